# bag_loop: the offsets hold the last end; a mean of nothing is NaN.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[max(0, B - 1), 4]) {
    %0 = const {value = true} : bool[]
    %1 = slice %off {starts = [min(B, 1)], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %2 = dims {values = [max(0, B - 1)], scalar} : i64[]
    %3 = loop %2, %0 {scans = 1} : f32[max(0, B - 1), 4] (%i_13: i64[], %g14: bool[]) {
      %4 = gather %off, %i_13 {axis = 0} : i64[]
      %5 = gather %1, %i_13 {axis = 0} : i64[]
      %6 = reshape %4 {to = [1]} : i64[1]
      %7 = reshape %5 {to = [1]} : i64[1]
      %8 = const {value = [0]} : i64[1]
      %9 = slice %ids, %6, %7, %8 : i64[n]
      %10 = gather @table, %9 {axis = 0} : f32[n, 4]
      %11 = reduce %10 {op = mean, axes = [0]} : f32[4]
      yield %0, %11
    }
    ret %3
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[max(0, B - 1), 4]) {
    %0 = slice %off {starts = [min(B, 1)], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %1 = slice %off {starts = [0], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %2 = bag @table, %ids, %1, %0 {operands = [3], pool = [mean], empty = [nan], offsets = slice} : f32[max(0, B - 1), 4]
    ret %2
  }
}
