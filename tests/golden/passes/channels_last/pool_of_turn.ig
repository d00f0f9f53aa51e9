# pool_of_turn: channels are one more axis of space for a pool.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8, 3, 5]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = pool %1 {op = max, kernel = [3, 2], strides = [2, 1]} : f32[B, 8, 3, 5]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8, 3, 5]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = reshape %0 {to = [B, 1, 7, 6, 8]} : f32[B, 1, 7, 6, 8]
    %2 = pool %1 {kernel = [3, 2, 1], strides = [2, 1, 1]} : f32[B, 1, 3, 5, 8]
    %3 = reshape %2 {to = [B, 3, 5, 8]} : f32[B, 3, 5, 8]
    %4 = transpose %3 {perm = [0, 3, 1, 2]} : f32[B, 8, 3, 5]
    ret %4
  }
}
