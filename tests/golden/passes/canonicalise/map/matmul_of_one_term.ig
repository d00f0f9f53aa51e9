# matmul_of_one_term: [M, 1] @ [1, N] is a product of elements, also over a batch; with more
# terms, or transposed, it stays.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3, 1], %y: f32[1, 4], %z: f32[2, 4]) -> (f32[B, 3, 4], f32[4, 4]) {
    %0 = matmul %x, %y
    %1 = matmul %z, %z {transpose_a}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 1], %y: f32[1, 4], %z: f32[2, 4]) -> (f32[B, 3, 4], f32[4, 4]) {
    %0 = mul %x, %y : f32[B, 3, 4]
    %1 = matmul %z, %z {transpose_a} : f32[4, 4]
    ret %0, %1
  }
}
