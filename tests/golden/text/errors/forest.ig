# A forest is summed, or its least or greatest is taken.
# run: infer
module @forest {
  graph @main(%x: f32[N, 4], %t: f32[7], %n: i64[7], %s: i64[2, 2], %l: i32[7], %w: f32[3, 2]) -> (f32[N, 2]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 2, op = prod} : f32[N, 2]
    ret %0
  }
}
# expect-error: 5:10: trees are summed, or the least or greatest is taken
