# pow_of_two: x to the power of 2 is x * x, whatever the dtype of 2 is.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 2.0} : f32[]
    %1 = pow %x, %0
    %2 = const {value = 2} : i64[]
    %3 = pow %x, %2
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = mul %x, %x : f32[B]
    %1 = mul %x, %x : f32[B]
    ret %0, %1
  }
}
