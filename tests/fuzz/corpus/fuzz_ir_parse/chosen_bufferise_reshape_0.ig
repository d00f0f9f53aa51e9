module @m {
  graph @main(%x: f32[B, 64]) -> (f32[B, 24, 1], f32[B, 3, 1]) {
    %0 = reshape %x {to = [B, 8, 1, 8]} : f32[B, 8, 1, 8]
    %1 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 8, 1, 3], steps = [1, 1, 1, 1]} : f32[B, 8, 1, 3]
    %2 = reshape %1 {to = [B, 24, 1]} : f32[B, 24, 1]
    %3 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 3, 1, 1], steps = [1, 2, 1, 1]} : f32[B, 3, 1, 1]
    %4 = reshape %3 {to = [B, 3, 1]} : f32[B, 3, 1]
    ret %2, %4
  }
}
