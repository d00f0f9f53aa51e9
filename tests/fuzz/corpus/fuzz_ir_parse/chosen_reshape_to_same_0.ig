module @m {
  graph @main(%x: f32[B, 2, L]) -> (f32[B, 2, L]) {
    %0 = reshape %x {to = [B, 2, L]}
    ret %0
  }
}
