# A fused region sees its arguments only; they are its operands, its yields its results.
# run: verify
module @regions {
  weight @w : f32[4] = splat(1)
  graph @main(%x: f32[4], %y: f32[5], %z: f32[B]) {
    %0 = fused %x : f32[4] (%a: f32[4]) {
      %1 = add %a, %x
      yield %1
    }
    %2 = fused %x : f32[4] (%a: f32[4]) {
      %3 = add %a, @w
      yield %3
    }
    %4 = fused %x, %y : f32[4] (%a: f32[4]) {
      yield %a
    }
    %5 = fused %x : f32[4] (%a: f32[5]) {
      yield %a
    }
    %6 = fused %z : f32[4] (%a: f32[4]) {
      yield %a
    }
    ret
  }
}
# expect-error: 7:12: operand 1 comes from outside of the fused
# expect-error: 11:12: operand 1 comes from outside of the fused
# expect-error: 14:10: body 0 must have 2 arguments, not 1
# expect-error: 17:10: argument 0 does not fit operand 0
# expect-error: 17:10: yielded value 0 is f32[5], not f32[4]
