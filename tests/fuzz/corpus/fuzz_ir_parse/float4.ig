module @m {
  graph @main(%x: f4e2m1[A], %y: f64[A]) -> (f4e2m1[A], f4e2m1[A]) {
    %0 = cast %y {to = f4e2m1} : f4e2m1[A]
    ret %x, %0
  }
}
