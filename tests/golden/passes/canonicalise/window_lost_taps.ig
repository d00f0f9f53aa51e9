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
