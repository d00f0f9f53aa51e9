# matmul_of_repeated_heads: heads of queries that share one head of keys are rows of one product.
# run: canonicalise,dce
module @m {
  graph @main(%q: f32[B, 6, L, 4], %k: f32[B, 2, S, 4], %p: f32[B, 6, L, S]) -> (f32[B, 6, L, S], f32[B, 6, L, 4]) {
    %0 = reshape %k {to = [B, 2, 1, S, 4]} : f32[B, 2, 1, S, 4]
    %1 = expand %0 {to = [B, 2, 3, S, 4]} : f32[B, 2, 3, S, 4]
    %2 = reshape %1 {to = [B, 6, S, 4]} : f32[B, 6, S, 4]
    %3 = matmul %q, %2 {transpose_b} : f32[B, 6, L, S]
    %4 = matmul %p, %2 : f32[B, 6, L, 4]
    ret %3, %4
  }
}
# expect:
module @m {
  graph @main(%q: f32[B, 6, L, 4], %k: f32[B, 2, S, 4], %p: f32[B, 6, L, S]) -> (f32[B, 6, L, S], f32[B, 6, L, 4]) {
    %0 = reshape %q {to = [B, 2, 3*L, 4]} : f32[B, 2, 3*L, 4]
    %1 = matmul %0, %k {transpose_b} : f32[B, 2, 3*L, S]
    %2 = reshape %1 {to = [B, 6, L, S]} : f32[B, 6, L, S]
    %3 = reshape %p {to = [B, 2, 3*L, S]} : f32[B, 2, 3*L, S]
    %4 = matmul %3, %k : f32[B, 2, 3*L, 4]
    %5 = reshape %4 {to = [B, 6, L, 4]} : f32[B, 6, L, 4]
    ret %2, %5
  }
}
