# matmul_of_transpose: matmul reads its operands transposed as well.
# run: canonicalise
module @m {
  weight @w : f32[8, 4] = splat(1)
  graph @main(%x: f32[B, 4], %y: f32[H, 5, 3], %z: f32[H, 7, 5]) -> (f32[B, 8], f32[H, 7, 3], f32[B, B]) {
    %0 = transpose @w {perm = [1, 0]}
    %1 = matmul %x, %0
    %2 = matmul %z, %y
    %3 = transpose %x {perm = [1, 0]}
    %4 = matmul %3, %3 {transpose_a}
    ret %1, %2, %4
  }
}
# expect:
module @m {
  weight @w : f32[8, 4] = splat(1)
  graph @main(%x: f32[B, 4], %y: f32[H, 5, 3], %z: f32[H, 7, 5]) -> (f32[B, 8], f32[H, 7, 3], f32[B, B]) {
    %0 = matmul %x, @w {transpose_b} : f32[B, 8]
    %1 = matmul %z, %y : f32[H, 7, 3]
    %2 = matmul %x, %x {transpose_b} : f32[B, B]
    ret %0, %1, %2
  }
}
