# infer: operands that turn out not to fit are an error.
# run: infer
module @m {
  graph @main(%x: f32[4], %y: f32[5]) -> (f32[A]) {
    %0 = relu %x : f32[A]
    %1 = relu %y : f32[B]
    %2 = add %0, %1 : f32[A]
    ret %2
  }
}
# expect-error: 7:10: operand 1 is f32[5], which does not broadcast with f32[4]
