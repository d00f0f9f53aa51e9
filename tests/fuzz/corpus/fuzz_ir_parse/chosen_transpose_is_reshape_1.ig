module @m {
  graph @main(%x: f32[B, 1, S, D], %y: f32[B, S, 1, D]) -> (f32[B, S, 1, D], f32[S, B, 1, D]) {
    %0 = reshape %x {to = [B, S, 1, D]} : f32[B, S, 1, D]
    %1 = transpose %y {perm = [1, 0, 2, 3]} : f32[S, B, 1, D]
    ret %0, %1
  }
}
