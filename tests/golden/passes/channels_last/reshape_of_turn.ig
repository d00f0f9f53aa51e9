# reshape_of_turn: space becomes one axis.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8, 42]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = reshape %1 {to = [B, 8, 42]} : f32[B, 8, 42]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 8, 42]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = reshape %0 {to = [B, 42, 8]} : f32[B, 42, 8]
    %2 = transpose %1 {perm = [0, 2, 1]} : f32[B, 8, 42]
    ret %2
  }
}
