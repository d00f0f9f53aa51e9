# reduce_of_turn: a sum over space of channels last.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = reduce %1 {op = sum, axes = [2, 3]} : f32[B, 8]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = reduce %0 {axes = [1, 2], keep} : f32[B, 1, 1, 8]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 8, 1, 1]
    %3 = reshape %2 {to = [B, 8]} : f32[B, 8]
    ret %3
  }
}
