# unify: an extent that is another one and a number is written so, and one that is at least a number is known to be; a maximum is no sum.
# run: unify
module @m {
  graph @main(%off: i64[C], %x: f32[B, 2], %y: f32[D], %z: f32[max(0, E - 1)], %e: f32[E]) -> (i64[C], f32[B, 2], f32[D], f32[max(0, E - 1)]) {
    guard eq(C - 1, B) "offsets of the batch"
    guard eq(2*D, B) "twice as many"
    guard eq(max(0, B - 4), D) "no sum"
    guard le(1, E) "at least one"
    ret %off, %x, %y, %z
  }
}
# expect:
module @m {
  symbol E {min = 1}
  graph @main(
      %off: i64[2*D + 1],
      %x: f32[2*D, 2],
      %y: f32[D],
      %z: f32[E - 1],
      %e: f32[E]) -> (i64[2*D + 1], f32[2*D, 2], f32[D], f32[E - 1]) {
    guard eq(max(0, 2*D - 4), D) "no sum"
    ret %off, %x, %y, %z
  }
}
