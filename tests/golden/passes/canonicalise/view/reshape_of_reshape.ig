# reshape_of_reshape: of two reshapes the last decides.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 52]) -> (f32[B, 4, 13]) {
    %0 = reshape %x {to = [52*B]}
    %1 = reshape %0 {to = [B, 4, 13]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 52]) -> (f32[B, 4, 13]) {
    %0 = reshape %x {to = [B, 4, 13]} : f32[B, 4, 13]
    ret %0
  }
}
