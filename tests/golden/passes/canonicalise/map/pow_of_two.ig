# pow_of_two: x to the power of 2 is x * x, whatever the dtype of 2 is,
# but of an integer to the power of a float.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], f32[B], i64[B], i64[B]) {
    %0 = const {value = 2.0} : f32[]
    %1 = pow %x, %0
    %2 = const {value = 2} : i64[]
    %3 = pow %x, %2
    %4 = pow %y, %2
    %5 = pow %y, %0
    ret %1, %3, %4, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], f32[B], i64[B], i64[B]) {
    %0 = const {value = 2} : f32[]
    %1 = mul %x, %x : f32[B]
    %2 = mul %x, %x : f32[B]
    %3 = mul %y, %y : i64[B]
    %4 = pow %y, %0 : i64[B]
    ret %1, %2, %3, %4
  }
}
