module @m {
  graph @main(%x: f32[B, 3], %c: f32[B, 1]) -> (f32[B, 3] "y") {
    %0 = insert %x, %c {starts = [0, 0]} : f32[B, 3]
    %1 = insert %0, %c {starts = [0, 1]} : f32[B, 3]
    %2 = insert %1, %c {starts = [0, 2]} : f32[B, 3]
    ret %2
  }
}
