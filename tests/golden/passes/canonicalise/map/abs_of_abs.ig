# abs_of_abs: abs(abs(x)) is abs(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = abs %x
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
