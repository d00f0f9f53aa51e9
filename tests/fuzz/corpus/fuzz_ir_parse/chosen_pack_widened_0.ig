module @m {
  weight @h : f16[5, 20] = splat(0.5)
  weight @w : bf16[20, 5] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5]) -> (f32[B, 20], bf16[B, 20]) {
    %0 = cast @h {to = f32} : f32[5, 20]
    %1 = matmul %x, %0 : f32[B, 20]
    %2 = matmul %y, @w {transpose_b} : bf16[B, 20]
    ret %1, %2
  }
}
