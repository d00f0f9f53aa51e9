# matmul_of_one_term: [M, 1] @ [1, N] is a product of elements, also over a batch; with more
# terms, or transposed, it stays.  Sums of floats begin with 0, so -0 becomes 0.
# run: canonicalise
# within: 1e-9 a negative product that is too small for f32 becomes 0, not -0
module @m {
  graph @main(%x: f32[B, 3, 1], %y: f32[1, 4], %z: f32[2, 4], %i: i32[2, 1], %j: i32[1, 2]) -> (f32[B, 3, 4], f32[4, 4], i32[2, 2]) {
    %0 = matmul %x, %y
    %1 = matmul %z, %z {transpose_a}
    %2 = matmul %i, %j
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(
      %x: f32[B, 3, 1],
      %y: f32[1, 4],
      %z: f32[2, 4],
      %i: i32[2, 1],
      %j: i32[1, 2]) -> (f32[B, 3, 4], f32[4, 4], i32[2, 2]) {
    %0 = mul %x, %y : f32[B, 3, 4]
    %1 = const {value = 0} : f32[]
    %2 = add %0, %1 : f32[B, 3, 4]
    %3 = matmul %z, %z {transpose_a} : f32[4, 4]
    %4 = mul %i, %j : i32[2, 2]
    ret %2, %3, %4
  }
}
