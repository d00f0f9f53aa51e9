# unify: one symbol in place of two has what is known of both.
# run: unify
module @m {
  symbol A {min = 1, max = 90}
  symbol B {max = 60}
  symbol C {min = 2, max = 70}
  graph @main(%x: f32[A], %y: f32[B], %z: f32[C]) -> (f32[A], f32[B], f32[C]) {
    guard eq(A, B)
    guard eq(C, B)
    ret %x, %y, %z
  }
}
# expect:
module @m {
  symbol A {min = 2, max = 60}
  graph @main(%x: f32[A], %y: f32[A], %z: f32[A]) -> (f32[A], f32[A], f32[A]) {
    ret %x, %y, %z
  }
}
