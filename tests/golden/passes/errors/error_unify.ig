# unify: guards that contradict each other are told by their words.
# run: unify
module @m {
  graph @main(%x: f32[2, C], %s: f32[2], %m: f32[3]) -> (f32[2, C]) {
    guard eq(2, C) "one scale per channel"
    guard eq(3, C) "one mean per channel"
    %0 = relu %x : f32[2, C]
    ret %0
  }
}
# expect-error: one mean per channel: 3 = 2 never holds
