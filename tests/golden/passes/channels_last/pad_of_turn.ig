# pad_of_turn: a pad on channels last.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 9, 10, 9]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = pad %1 {before = [0, 1, 2, 3], after = [0, 0, 1, 0]} : f32[B, 9, 10, 9]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 9, 10, 9]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = pad %0 {before = [0, 2, 3, 1], after = [0, 1, 0, 0]} : f32[B, 10, 9, 9]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 9, 10, 9]
    ret %2
  }
}
