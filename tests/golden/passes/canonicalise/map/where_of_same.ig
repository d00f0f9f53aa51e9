# where_of_same: where(c, x, x) is x, unless c makes it larger.
# run: canonicalise
module @m {
  graph @main(%c: bool[B], %x: f32[B], %y: f32[]) -> (f32[B], f32[B]) {
    %0 = where %c, %x, %x
    %1 = where %c, %y, %y
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%c: bool[B], %x: f32[B], %y: f32[]) -> (f32[B], f32[B]) {
    %0 = where %c, %y, %y : f32[B]
    ret %x, %0
  }
}
