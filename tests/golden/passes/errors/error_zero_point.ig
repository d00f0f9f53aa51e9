# A zero point has the elements that it is taken from.
# run: infer
module @m {
  graph @main(%x: u8[A, 4], %s: f32[], %z: i8[]) -> (f32[A, 4]) {
    %0 = dequantize %x, %s, %z : f32[A, 4]
    ret %0
  }
}
# expect-error: the zero point is i8[], expected elements of type u8
