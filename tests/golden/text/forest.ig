# Tree ensembles.
# run: infer
module @forest {
  graph @main(%x: f32[N, 4], %t: f32[7], %n: i64[7], %s: i64[2, 2], %l: i32[7], %w: f32[3, 1]) -> (f32[N, A], f32[N, B]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 3} : f32[N, A]
    %1 = forest %x, %t, %n, %s, %l, %w {targets = 1, op = max} : f32[N, B]
    ret %0, %1
  }
}
# expect:
module @forest {
  graph @main(
      %x: f32[N, 4],
      %t: f32[7],
      %n: i64[7],
      %s: i64[2, 2],
      %l: i32[7],
      %w: f32[3, 1]) -> (f32[N, 3], f32[N, 1]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 3} : f32[N, 3]
    %1 = forest %x, %t, %n, %s, %l, %w {targets = 1, op = max} : f32[N, 1]
    ret %0, %1
  }
}
