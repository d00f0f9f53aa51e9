# abs_of_neg: abs(neg(x)) is abs(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = neg %x
    %1 = abs %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = abs %x : f32[B]
    ret %0
  }
}
