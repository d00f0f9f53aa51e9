module @m {
  graph @main(%x: f32[A, 3]) -> (f32[n, 3]) {
    %0, %1, %2, %3 = unique %x {axis = 0} : f32[n, 3], i64[n], i64[A], i64[n]
    ret %0
  }
}
