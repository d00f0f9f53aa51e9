# neg_of_neg: neg(neg(x)) is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = neg %x
    %1 = neg %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
