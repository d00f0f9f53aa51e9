# ---- repeated_heads ----
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
# ---- repeated_weights ----
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
# ---- sink_quads ----
# sink: scales of an integer product go in front of its reshape.
# run: sink
module @m {
  weight @w : i8[1, 2, 16, 4] = splat(3)
  weight @s : f32[16] = splat(0.5)
  graph @main(%y: u8[A, B, 5]) -> (f32[A, B, 16]) {
    %x = reshape %y {to = [A*B, 5]} : u8[A*B, 5]
    %0 = matmul_quads %x, @w {columns = 16} : i32[A*B, 16]
    %1 = reshape %0 {to = [A, B, 16]} : i32[A, B, 16]
    %2 = cast %1 {to = f32} : f32[A, B, 16]
    %3 = mul %2, @s : f32[A, B, 16]
    ret %3
  }
}
# expect:
module @m {
  weight @w : i8[1, 2, 16, 4] = splat(3)
  weight @s : f32[16] = splat(0.5)
  graph @main(%y: u8[A, B, 5]) -> (f32[A, B, 16]) {
    %0 = reshape %y {to = [A*B, 5]} : u8[A*B, 5]
    %1 = matmul_quads %0, @w {columns = 16} : i32[A*B, 16]
    %2 = cast %1 {to = f32} : f32[A*B, 16]
    %3 = mul %2, @s : f32[A*B, 16]
    %4 = reshape %3 {to = [A, B, 16]} : f32[A, B, 16]
    ret %4
  }
}
# ---- window_lost_taps ----
# conv_without_lost_taps: taps that see zeros alone are left out, along each axis by itself.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 4, 6, 9], %w: f32[8, 4, 3, 3], %b: f32[8], %y: f32[B, 4, H, 9]) -> (f32[B, 8, 6, 9], f32[B, 8, 6, 9], f32[B, 8, 3, 6], f32[B, 8, H, 9]) {
    %0 = conv %x, %w, %b {dilations = [6, 9], before = [6, 9], after = [6, 9]} : f32[B, 8, 6, 9]
    %1 = conv %x, %w {dilations = [6, 8], before = [6, 8], after = [6, 8]} : f32[B, 8, 6, 9]
    %2 = conv %x, %w {strides = [1, 3], dilations = [5, 1], before = [7, 8], after = [0, 2]} : f32[B, 8, 3, 6]
    %3 = conv %y, %w {dilations = [9, 9], before = [9, 9], after = [9, 9]} : f32[B, 8, H, 9]
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 4, 6, 9], %w: f32[8, 4, 3, 3], %b: f32[8], %y: f32[B, 4, H, 9]) -> (f32[B, 8, 6, 9], f32[B, 8, 6, 9], f32[B, 8, 3, 6], f32[B, 8, H, 9]) {
    %0 = slice %w {starts = [0, 0, 1, 1], sizes = [8, 4, 1, 1]} : f32[8, 4, 1, 1]
    %1 = conv %x, %0, %b {dilations = [6, 9], before = [0, 0], after = [0, 0]} : f32[B, 8, 6, 9]
    %2 = slice %w {starts = [0, 0, 1, 0], sizes = [8, 4, 1, 3]} : f32[8, 4, 1, 3]
    %3 = conv %x, %2 {dilations = [6, 8], before = [0, 8], after = [0, 8]} : f32[B, 8, 6, 9]
    %4 = slice %w {starts = [0, 0, 1, 0], sizes = [8, 4, 2, 3]} : f32[8, 4, 2, 3]
    %5 = conv %x, %4 {strides = [1, 3], dilations = [5, 1], before = [2, 8], after = [0, 2]} : f32[B, 8, 3, 6]
    %6 = conv %y, %w {dilations = [9, 9], before = [9, 9], after = [9, 9]} : f32[B, 8, H, 9]
    ret %1, %3, %5, %6
  }
}
