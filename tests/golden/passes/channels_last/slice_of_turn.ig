# slice_of_turn: a slice of channels last.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 4, 2, 3]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = slice %1 {starts = [0, 1, 2, 3], sizes = [B, 4, 2, 3], steps = [1, 2, 1, 1]} : f32[B, 4, 2, 3]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 4, 2, 3]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = slice %0 {starts = [0, 2, 3, 1], sizes = [B, 2, 3, 4], steps = [1, 1, 1, 2]} : f32[B, 2, 3, 4]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 4, 2, 3]
    ret %2
  }
}
