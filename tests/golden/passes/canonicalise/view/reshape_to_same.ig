# reshape_to_same: a reshape to the shape that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 2, L]) -> (f32[B, 2, L]) {
    %0 = reshape %x {to = [B, 2, L]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 2, L]) -> (f32[B, 2, L]) {
    ret %x
  }
}
