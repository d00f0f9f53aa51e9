# conv_of_repeated_weights: outputs with the same weights are one.
# matmul_of_repeated_columns: so are columns of a product.
# run: canonicalise
module @m {
  weight @same : f32[8] = splat(0.5)
  weight @other : f32[8] = [1, 1, 1, 1, 1, 1, 1, 2]
  graph @main(%x: f32[B, 4, 6, 9], %v: f32[4, 1, 3], %s: f32[], %m: f32[B, 5], %k: f32[5, 1], %o: f32[8, 1, 3, 3]) -> (f32[B, 8, 6, 9], f32[B, 8, 4, 7], f32[B, 7], f32[B, 7], f32[B, 8, 4, 7], f32[B, 8, 4, 7]) {
    %0 = expand %v {to = [8, 4, 3, 3]} : f32[8, 4, 3, 3]
    %1 = conv %x, %0, @same {before = [1, 1], after = [1, 1]} : f32[B, 8, 6, 9]
    %2 = conv %x, %0 : f32[B, 8, 4, 7]
    %3 = expand %s {to = [7, 5]} : f32[7, 5]
    %4 = matmul %m, %3 {transpose_b} : f32[B, 7]
    %5 = expand %k {to = [5, 7]} : f32[5, 7]
    %6 = matmul %m, %5 : f32[B, 7]
    %7 = expand %o {to = [8, 4, 3, 3]} : f32[8, 4, 3, 3]
    %8 = conv %x, %7 : f32[B, 8, 4, 7]
    %9 = conv %x, %0, @other : f32[B, 8, 4, 7]
    ret %1, %2, %4, %6, %8, %9
  }
}
# expect:
module @m {
  weight @same : f32[8] = splat(0.5)
  weight @other : f32[8] = [1, 1, 1, 1, 1, 1, 1, 2]
  graph @main(
      %x: f32[B, 4, 6, 9],
      %v: f32[4, 1, 3],
      %s: f32[],
      %m: f32[B, 5],
      %k: f32[5, 1],
      %o: f32[8, 1, 3, 3]) -> (f32[B, 8, 6, 9], f32[B, 8, 4, 7], f32[B, 7], f32[B, 7], f32[B, 8, 4, 7], f32[B, 8, 4, 7]) {
    %0 = expand %v {to = [8, 4, 3, 3]} : f32[8, 4, 3, 3]
    %1 = expand %v {to = [1, 4, 3, 3]} : f32[1, 4, 3, 3]
    %2 = slice @same {starts = [0], sizes = [1]} : f32[1]
    %3 = conv %x, %1, %2 {before = [1, 1], after = [1, 1]} : f32[B, 1, 6, 9]
    %4 = expand %3 {to = [B, 8, 6, 9]} : f32[B, 8, 6, 9]
    %5 = expand %v {to = [1, 4, 3, 3]} : f32[1, 4, 3, 3]
    %6 = conv %x, %5 : f32[B, 1, 4, 7]
    %7 = expand %6 {to = [B, 8, 4, 7]} : f32[B, 8, 4, 7]
    %8 = expand %s {to = [1, 5]} : f32[1, 5]
    %9 = matmul %m, %8 {transpose_b} : f32[B, 1]
    %10 = expand %9 {to = [B, 7]} : f32[B, 7]
    %11 = matmul %m, %k : f32[B, 1]
    %12 = expand %11 {to = [B, 7]} : f32[B, 7]
    %13 = expand %o {to = [8, 4, 3, 3]} : f32[8, 4, 3, 3]
    %14 = conv %x, %13 : f32[B, 8, 4, 7]
    %15 = conv %x, %0, @other : f32[B, 8, 4, 7]
    ret %4, %7, %10, %12, %14, %15
  }
}
