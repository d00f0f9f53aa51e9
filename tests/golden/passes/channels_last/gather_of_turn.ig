# gather_of_turn: rows that ids choose, along an axis of space.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16], %i: i64[12]) -> (f32[B, 8, 12, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 8, 7, 6]
    %3 = gather %1, %i {axis = 2} : f32[B, 8, 12, 6]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16], %i: i64[12]) -> (f32[B, 8, 12, 6]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 8} : f32[B, 7, 6, 8]
    %1 = gather %0, %i {axis = 1} : f32[B, 12, 6, 8]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 8, 12, 6]
    ret %2
  }
}
