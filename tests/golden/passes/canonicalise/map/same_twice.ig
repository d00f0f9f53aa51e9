# same_twice: min, max, and, or of x and x are x; xor is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %p: bool[B]) -> (f32[B], f32[B], bool[B], bool[B], bool[B]) {
    %0 = min %x, %x
    %1 = max %x, %x
    %2 = and %p, %p
    %3 = or %p, %p
    %4 = xor %p, %p
    ret %0, %1, %2, %3, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %p: bool[B]) -> (f32[B], f32[B], bool[B], bool[B], bool[B]) {
    %0 = xor %p, %p : bool[B]
    ret %x, %x, %p, %p, %0
  }
}
