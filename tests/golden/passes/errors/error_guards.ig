# guards: a guard of the graph's own block that never holds is an error.
# run: guards
module @m {
  graph @main(%x: f32[B]) -> () {
    guard eq(2*B, 2*B + 1) "batch and ids disagree"
    ret
  }
}
# expect-error: 5:5: batch and ids disagree: 2*B = 2*B + 1 never holds
