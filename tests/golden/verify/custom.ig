# An operator of the user's own finds extents that are there.
# run:
module @m {
  graph @main(%x: f32[N]) -> (f32[K] "o") {
    %0 = custom %x {function = "a::b", version = 1, own = [0, 1]} : f32[K]
    ret %0
  }
}
# expect-error: 5:10: a function domain::Op takes and gives tensors (no texts), 32 at the most, and finds extents that are there
