# add_of_zero: x + 0 is x; of floats only x + -0 is, because -0 + 0 is 0.
# run: canonicalise
module @m {
  weight @wide : f32[1, 4] = splat(-0)
  weight @row : f32[4] = [-0, -0, -0, -0]
  graph @main(%x: f32[B, 4], %i: i64[B], %y: f32[4]) -> (f32[B, 4], i64[B], f32[B, 4], f32[1, 4], f32[B, 4]) {
    %0 = const {value = -0.0} : f32[]
    %1 = add %x, %0
    %2 = const {value = 0} : i64[]
    %3 = add %2, %i
    %4 = const {value = 0.0} : f32[]
    %5 = add %x, %4
    %6 = add %y, @wide
    %7 = add @row, %x
    ret %1, %3, %5, %6, %7
  }
}
# expect:
module @m {
  weight @wide : f32[1, 4] = splat(-0)
  weight @row : f32[4] = [-0, -0, -0, -0]
  graph @main(%x: f32[B, 4], %i: i64[B], %y: f32[4]) -> (f32[B, 4], i64[B], f32[B, 4], f32[1, 4], f32[B, 4]) {
    %0 = const {value = 0} : f32[]
    %1 = add %x, %0 : f32[B, 4]
    %2 = add %y, @wide : f32[1, 4]
    ret %x, %i, %1, %2, %x
  }
}
