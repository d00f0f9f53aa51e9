# A compute's body takes the inputs and yields the destinations.
# run: verify
module @computes {
  plan @main(%x: f32[4], %i: i64[4]) -> (&f32[4]) {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[5]
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4], %b: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %i, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 4} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      %2 = relu %x
      yield %2
    }
    rows {count = 4, block = 0, symbol = r} {
      yield %x
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[5]) {
      yield %a
    }
    ret %0
  }
}
# expect-error: 7:5: body 0 must have 1 arguments, not 2
# expect-error: 10:5: yielded value 0 is f32[4], not &f32[5]
# expect-error: 13:5: argument 0 does not fit operand 0
# expect-error: 16:5: 2 operands cannot hold 4 destinations
# expect-error: 20:12: operand 0 comes from outside of the compute
# expect-error: 23:5: body 0 must yield 0 values, not 1
# expect-error: 23:5: a block has at least one row
# expect-error: 29:5: argument 0 does not fit operand 0
