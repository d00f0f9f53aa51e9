# unify: a symbol never becomes a number that it may not be: the guard is left, which the run reports.
# run: unify
# not run: its guards contradict what its symbols may be
module @m {
  symbol A {max = 7}
  symbol B {min = 3}
  symbol C {multiple = 4}
  symbol D {min = 2, max = 9}
  graph @above(%x: f32[A]) -> (f32[A]) {
    guard eq(A, 8)
    ret %x
  }
  graph @below(%x: f32[B]) -> (f32[B]) {
    guard eq(B, 2)
    ret %x
  }
  graph @between(%x: f32[C]) -> (f32[C]) {
    guard eq(C, 6)
    ret %x
  }
  graph @within(%x: f32[D]) -> (f32[D]) {
    guard eq(D, 9)
    ret %x
  }
}
# expect:
module @m {
  symbol A {max = 7}
  symbol B {min = 3}
  symbol C {multiple = 4}
  graph @above(%x: f32[A]) -> (f32[A]) {
    guard eq(A, 8)
    ret %x
  }
  graph @below(%x: f32[B]) -> (f32[B]) {
    guard eq(B, 2)
    ret %x
  }
  graph @between(%x: f32[C]) -> (f32[C]) {
    guard eq(C, 6)
    ret %x
  }
  graph @within(%x: f32[9]) -> (f32[9]) {
    ret %x
  }
}
