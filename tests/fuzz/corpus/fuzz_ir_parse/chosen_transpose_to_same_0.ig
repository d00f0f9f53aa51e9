module @m {
  graph @main(%x: f32[B, L, 3]) -> (f32[B, L, 3]) {
    %0 = transpose %x {perm = [0, 1, 2]}
    ret %0
  }
}
