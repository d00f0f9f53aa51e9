# expand_of_expand: two expands are one.
# run: canonicalise
# not run: A is no extent of an input
module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [B, 3]}
    %1 = expand %0 {to = [A, 1, 1]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [A, B, 3]} : f32[A, B, 3]
    ret %0
  }
}
