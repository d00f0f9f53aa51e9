# Tables that change in the rows of a batch.
# run:
module @update {
  graph @main(
      %w: f32[100, 4],
      %m: f32[100, 1],
      %v: f32[R, 4],
      %s: f32[R, 1],
      %ids: i64[N],
      %ids2: i64[K],
      %dy: f32[B, 4],
      %in: i64[N],
      %in2: i64[K],
      %rate: f32[]) -> (f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5, %6, %7 = bag_update %w, %m, %0, %1, %dy, %in, %v, %s, %2, %3, %dy, %in2, %rate {tables = 2, states = 1, bags} (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 1], %11: f32[]) {
      %12 = reduce %9 {op = sumsq, axes = [1], keep} : f32[1, 1]
      %13 = add %10, %12 : f32[1, 1]
      %14 = mul %9, %11 : f32[1, 4]
      %15 = sub %8, %14 : f32[1, 4]
      yield %15, %13
    } : f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]
    ret %4, %5, %6, %7
  }
}
# expect:
module @update {
  graph @main(
      %w: f32[100, 4],
      %m: f32[100, 1],
      %v: f32[R, 4],
      %s: f32[R, 1],
      %ids: i64[N],
      %ids2: i64[K],
      %dy: f32[B, 4],
      %in: i64[N],
      %in2: i64[K],
      %rate: f32[]) -> (f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5, %6, %7 = bag_update %w, %m, %0, %1, %dy, %in, %v, %s, %2, %3, %dy, %in2, %rate {tables = 2, states = 1, bags} : f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1] (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 1], %11: f32[]) {
      %12 = reduce %9 {op = sumsq, axes = [1], keep} : f32[1, 1]
      %13 = add %10, %12 : f32[1, 1]
      %14 = mul %9, %11 : f32[1, 4]
      %15 = sub %8, %14 : f32[1, 4]
      yield %15, %13
    }
    ret %4, %5, %6, %7
  }
}
