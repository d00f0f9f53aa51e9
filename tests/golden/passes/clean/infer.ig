# infer: every value gets the most precise type that its operands allow.
# run: infer
module @m {
  graph @main(%x: f32[4, 3], %y: f32[B, 3]) -> (f32[N, 3], f32[M, L], f32[C, 3]) {
    %0 = relu %x : f32[N, 3]
    %1 = neg %0 : f32[M, L]
    %2 = add %y, %1 : f32[C, 3]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 3], %y: f32[B, 3]) -> (f32[4, 3], f32[4, 3], f32[4, 3]) {
    %0 = relu %x : f32[4, 3]
    %1 = neg %0 : f32[4, 3]
    %2 = add %y, %1 : f32[4, 3]
    ret %0, %1, %2
  }
}
