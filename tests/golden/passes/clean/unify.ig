# unify: what entry guards equate becomes one symbol; what is no input's dim keeps its guard.
# run: unify
module @m {
  graph @main(%x: f32[B, 13], %off: i64[B_1], %c: f32[K]) -> (f32[B, 13], i64[B_1], f32[K]) {
    guard eq(B, B_1) "x and off disagree on the batch"
    guard eq(K, 8)
    guard eq(B, 2*K)
    ret %x, %off, %c
  }
}
# expect:
module @m {
  graph @main(%x: f32[16, 13], %off: i64[16], %c: f32[8]) -> (f32[16, 13], i64[16], f32[8]) {
    ret %x, %off, %c
  }
}
