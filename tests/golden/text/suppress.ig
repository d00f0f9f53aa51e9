# ---- error_number ----
# Each box has a score.
# run: infer
module @boxes {
  graph @main(%x: f32[B, 7, 4], %y: f32[B, C, 8], %s: f32[], %m: i64[]) -> (i64[B, C, 8]) {
    %0, %1 = suppress %x, %y, %s, %m : i64[B, C, 8], i64[B, C]
    ret %0
  }
}
# expect-error: 5:14: operand 1 is f32[B, C, 8], expected its extent 2 to equal 7, the number of boxes
# ---- types ----
# Boxes without those that a better one covers.
# run: infer
module @boxes {
  graph @main(%x: f32[B, N, 4], %y: f32[B, C, N], %s: f32[], %m: i64[], %l: f32[]) -> (i64[B, C, N], i64[B, D]) {
    %0, %1 = suppress %x, %y, %s, %m : i64[B, C, N], i64[B, D]
    %2, %3 = suppress %x, %y, %s, %m, %l : i64[B, C, N], i64[B, D]
    ret %0, %3
  }
}
# expect:
module @boxes {
  graph @main(
      %x: f32[B, N, 4],
      %y: f32[B, C, N],
      %s: f32[],
      %m: i64[],
      %l: f32[]) -> (i64[B, C, N], i64[B, C]) {
    %0, %1 = suppress %x, %y, %s, %m : i64[B, C, N], i64[B, C]
    %2, %3 = suppress %x, %y, %s, %m, %l : i64[B, C, N], i64[B, C]
    ret %0, %3
  }
}
