module @m {
  graph @main(%x: f32[B, 52]) -> (f32[B, 4, 13]) {
    %0 = reshape %x {to = [B, 4, 13]} : f32[B, 4, 13]
    ret %0
  }
}
