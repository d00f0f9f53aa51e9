module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [A, B, 3]} : f32[A, B, 3]
    ret %0
  }
}
