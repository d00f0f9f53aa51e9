# pow_of_one: x to the power of 1 is x, but of an integer to the power of a float.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], i64[B], i64[B]) {
    %0 = const {value = 1.0} : f32[]
    %1 = pow %x, %0
    %2 = const {value = 1} : i64[]
    %3 = pow %y, %2
    %4 = pow %y, %0
    ret %1, %3, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], i64[B], i64[B]) {
    %0 = const {value = 1} : f32[]
    %1 = pow %y, %0 : i64[B]
    ret %x, %y, %1
  }
}
