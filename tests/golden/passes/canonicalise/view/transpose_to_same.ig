# transpose_to_same: a transpose that leaves every axis where it is is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, L, 3]) -> (f32[B, L, 3]) {
    %0 = transpose %x {perm = [0, 1, 2]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, L, 3]) -> (f32[B, L, 3]) {
    ret %x
  }
}
