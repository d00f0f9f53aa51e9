# shuffle_of_turn: channels are dealt out to space, behind others or before them; a
# reshape that joins what does not belong together stays.
# run: channels_last
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 4, 14, 12], f32[B, 4, 14, 12], f32[B, 2, 28, 12]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 16} : f32[B, 7, 6, 16]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : f32[B, 16, 7, 6]
    %2 = reshape %1 {to = [B, 2, 2, 4, 7, 6]} : f32[B, 2, 2, 4, 7, 6]
    %3 = transpose %2 {perm = [0, 3, 4, 1, 5, 2]} : f32[B, 4, 7, 2, 6, 2]
    %4 = reshape %3 {to = [B, 4, 14, 12]} : f32[B, 4, 14, 12]
    %5 = reshape %1 {to = [B, 4, 2, 2, 7, 6]} : f32[B, 4, 2, 2, 7, 6]
    %6 = transpose %5 {perm = [0, 1, 4, 2, 5, 3]} : f32[B, 4, 7, 2, 6, 2]
    %7 = reshape %6 {to = [B, 4, 14, 12]} : f32[B, 4, 14, 12]
    %8 = transpose %2 {perm = [0, 1, 3, 4, 5, 2]} : f32[B, 2, 4, 7, 6, 2]
    %9 = reshape %8 {to = [B, 2, 28, 12]} : f32[B, 2, 28, 12]
    ret %4, %7, %9
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7, 6, 3], %w: f32[1, 3, 16]) -> (f32[B, 4, 14, 12], f32[B, 4, 14, 12], f32[B, 2, 28, 12]) {
    %0 = conv_panels %x, %w {kernel = [1, 1], columns = 16} : f32[B, 7, 6, 16]
    %1 = reshape %0 {to = [B, 7, 6, 2, 2, 4]} : f32[B, 7, 6, 2, 2, 4]
    %2 = transpose %1 {perm = [0, 1, 3, 2, 4, 5]} : f32[B, 7, 2, 6, 2, 4]
    %3 = reshape %2 {to = [B, 14, 12, 4]} : f32[B, 14, 12, 4]
    %4 = transpose %3 {perm = [0, 3, 1, 2]} : f32[B, 4, 14, 12]
    %5 = reshape %0 {to = [B, 7, 6, 4, 2, 2]} : f32[B, 7, 6, 4, 2, 2]
    %6 = transpose %5 {perm = [0, 1, 4, 2, 5, 3]} : f32[B, 7, 2, 6, 2, 4]
    %7 = reshape %6 {to = [B, 14, 12, 4]} : f32[B, 14, 12, 4]
    %8 = transpose %7 {perm = [0, 3, 1, 2]} : f32[B, 4, 14, 12]
    %9 = reshape %0 {to = [B, 7, 6, 2, 2, 4]} : f32[B, 7, 6, 2, 2, 4]
    %10 = transpose %9 {perm = [0, 5, 1, 2, 4, 3]} : f32[B, 4, 7, 6, 2, 2]
    %11 = reshape %10 {to = [B, 28, 12, 2]} : f32[B, 28, 12, 2]
    %12 = transpose %11 {perm = [0, 3, 1, 2]} : f32[B, 2, 28, 12]
    ret %4, %8, %12
  }
}
