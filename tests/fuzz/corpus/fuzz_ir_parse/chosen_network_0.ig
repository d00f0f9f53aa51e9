module @network {
  graph @main(%x: f32[N, 6, H, 32], %c: f32[6], %q: f32[B, 4, L, 16], %k: f32[B, 4, S, 16], %m: bool[L, S], %s: f32[T, B, 5], %h: f32[B, 8], %w: f32[32, 5], %r: f32[32, 8], %b: f32[32], %n: i64[B], %g: f32[N, 3, 4, 2]) -> (f32[N, 6, H, 32], f32[B, 4, L, 16], f32[T, B, 8], f32[B, 8], f32[B, 8], f32[N, 6, 2*H, 64], f32[N, 6, 3, 4], f32[N, 6, 3, 4]) {
    %0 = batch_norm %x, %c, %c, %c, %c {epsilon = 1e-05} : f32[N, 6, H, 32]
    %1 = group_norm %0, %c, %c {groups = 3, epsilon = 1e-05} : f32[N, 6, H, 32]
    %2 = layer_norm %1 {axis = 3, epsilon = 1e-05, rms} : f32[N, 6, H, 32]
    %3 = attention %q, %k, %k, %m {scale = 0.25, causal} : f32[B, 4, L, 16]
    %4, %5, %6 = rnn %s, %h, %h, %w, %r, %b, %b, %n {reverse, given = 1} : f32[T, B, 8], f32[B, 8], f32[B, 8]
    %7 = resize %2 {sizes = [N, 6, 2*H, 64], mode = linear, coordinates = align_corners} : f32[N, 6, 2*H, 64]
    %8 = grid_sample %2, %g {mode = linear, outside = border} : f32[N, 6, 3, 4]
    %9 = gelu %8 {tanh} : f32[N, 6, 3, 4]
    %10 = tan %9 : f32[N, 6, 3, 4]
    %11 = asin %10 : f32[N, 6, 3, 4]
    %12 = acos %11 : f32[N, 6, 3, 4]
    %13 = atan %12 : f32[N, 6, 3, 4]
    %14 = sinh %13 : f32[N, 6, 3, 4]
    %15 = cosh %14 : f32[N, 6, 3, 4]
    %16 = asinh %15 : f32[N, 6, 3, 4]
    %17 = acosh %16 : f32[N, 6, 3, 4]
    %18 = atanh %17 : f32[N, 6, 3, 4]
    %19 = exp2 %18 : f32[N, 6, 3, 4]
    %20 = expm1 %19 : f32[N, 6, 3, 4]
    %21 = log2 %20 : f32[N, 6, 3, 4]
    %22 = log10 %21 : f32[N, 6, 3, 4]
    %23 = erfc %22 : f32[N, 6, 3, 4]
    %24 = atan2 %23, %8 : f32[N, 6, 3, 4]
    ret %2, %3, %4, %5, %6, %7, %8, %24
  }
}
