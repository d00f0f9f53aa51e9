# map_of_turn: elementwise ops on channels last; what is broadcast along with them is turned.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16], %s: f32[8, 1, 1], %r: f32[7, 6]) -> (f32[B, 8, 7, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %2 = mul %1, %s : f32[B, 8, 7, 6]
    %3 = add %2, %r : f32[B, 8, 7, 6]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16], %s: f32[8, 1, 1], %r: f32[7, 6]) -> (f32[B, 8, 7, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = reshape %s {to = [1, 1, 1, 8]} : f32[1, 1, 1, 8]
    %2 = mul %0, %1 : f32[B, 7, 6, 8]
    %3 = reshape %r {to = [1, 7, 6, 1]} : f32[1, 7, 6, 1]
    %4 = add %2, %3 : f32[B, 7, 6, 8]
    %5 = transpose %4 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    ret %5
  }
}
