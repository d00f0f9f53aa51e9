# unify: what a guard tells of an extent does not fit another op.
# run: unify
module @m {
  graph @main(%q: f32[2, L, 8], %k: f32[2, 6, 8], %mask: f32[4, 6]) -> (f32[2, L, 8]) {
    guard eq(6, L) "a value for each key"
    %0 = attention %q, %k, %q, %mask {scale = 1} : f32[2, L, 8]
    ret %0
  }
}
# expect-error: operand 3 is f32[4, 6], expected its extent 0 to equal 6, that of the scores
