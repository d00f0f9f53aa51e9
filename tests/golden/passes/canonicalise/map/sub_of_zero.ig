# sub_of_zero: x - 0 is x, but 0 - x is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 0.0} : f32[]
    %1 = sub %x, %0
    %2 = sub %0, %x
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 0} : f32[]
    %1 = sub %0, %x : f32[B]
    ret %x, %1
  }
}
