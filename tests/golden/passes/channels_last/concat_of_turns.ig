# concat_of_turns: a concat of channels is one of the last axis.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 16, 7, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %2 = relu %1 : f32[B, 8, 7, 6]
    %3 = concat %1, %2 {axis = 1} : f32[B, 16, 7, 6]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 16, 7, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = relu %0 : f32[B, 7, 6, 8]
    %2 = concat %0, %1 {axis = 3} : f32[B, 7, 6, 16]
    %3 = transpose %2 {perm = [0, 3, 1, 2]} : f32[B, 16, 7, 6]
    ret %3
  }
}
