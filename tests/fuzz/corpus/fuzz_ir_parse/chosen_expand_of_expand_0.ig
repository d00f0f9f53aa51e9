module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [B, 3]}
    %1 = expand %0 {to = [A, 1, 1]}
    ret %1
  }
}
