# pow_of_one: x to the power of 1 is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = const {value = 1.0} : f32[]
    %1 = pow %x, %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
