# expand_to_same: an expand to the shape that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3]) {
    %0 = expand %x {to = [B, 1]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3]) {
    ret %x
  }
}
