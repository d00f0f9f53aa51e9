module @window {
  graph @main(%x: f32[N, 4, H, 32], %w: f32[8, 2, 3, 3], %b: f32[8], %t: f32[4, 3, 3, 3]) -> (f32[N, 8, A0, B0], f32[N, 3, A1, B1], f32[N, 4, A2, B2], f32[N, 4, A3, B3], i64[N, 4, A3, B3], f32[N, 4, 1, 7], i64[N, 4, 1, 7]) {
    %0 = conv %x, %w, %b {strides = [2, 1], before = [1, 1], after = [1, 1], group = 2} : f32[N, 8, A0, B0]
    %1 = conv %x, %t {strides = [2, 2], after = [1, 0], transposed} : f32[N, 3, A1, B1]
    %2 = pool %x {kernel = [3, 3], strides = [2, 2], ceil_mode} : f32[N, 4, A2, B2]
    %3 = pool %x {op = average, kernel = [2, 2], count_pad} : f32[N, 4, A3, B3]
    %4 = pool_indices %x {kernel = [2, 2], whole} : i64[N, 4, A3, B3]
    %5 = adaptive_pool %x {sizes = [1, 7]} : f32[N, 4, 1, 7]
    %6 = adaptive_pool_indices %x {sizes = [1, 7]} : i64[N, 4, 1, 7]
    ret %0, %1, %2, %3, %4, %5, %6
  }
}
