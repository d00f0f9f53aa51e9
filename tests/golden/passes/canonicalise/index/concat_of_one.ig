# concat_of_one: a concat of one is that one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = concat %x {axis = 0}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
