# cast_to_same: a cast to the dtype that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = cast %x {to = f32}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
