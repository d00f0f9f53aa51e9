# What stands for an expression has a value when what the expression mentions has one.
# run: verify
module @defined_symbol {
  symbol B
  symbol d {defined = (B * B)}
  symbol n
  symbol e {defined = (n * n)}
  plan @main(%x: f32[B], %count: i64[1]) -> (&f32[B]) {
    %0 = alloc : &f32[B]
    %1 = view %x {offset = d, strides = [1]} : &f32[B]
    compute %1, %0 {family = "copy", outs = 1} (%2: f32[B]) {
      yield %2
    }
    %3 = view %x {offset = e, strides = [1]} : &f32[B]
    compute %3, %0 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %0
  }
}
# expect-error: 15:5: 'n' has no value yet
