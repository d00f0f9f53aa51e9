# bag_loop: one bag a trip, offsets and the number of ids joined.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = const {value = true} : bool[]
    %1 = dims {values = [N]} : i64[1]
    %2 = concat %off, %1 {axis = 0} : i64[B + 1]
    %3 = slice %2 {starts = [1], sizes = [B]} : i64[B]
    %4 = dims {values = [B], scalar} : i64[]
    %5 = loop %4, %0 {scans = 1} : f32[B, 4] (%i_25: i64[], %g26: bool[]) {
      %6 = gather %2, %i_25 {axis = 0} : i64[]
      %7 = gather %3, %i_25 {axis = 0} : i64[]
      %8 = reshape %6 {to = [1]} : i64[1]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = const {value = [0]} : i64[1]
      %11 = slice %ids, %8, %9, %10 : i64[n]
      %12 = gather @table, %11 {axis = 0} : f32[n, 4]
      %13 = reduce %12 {op = sum, axes = [0]} : f32[4]
      yield %0, %13
    }
    ret %5
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [sum], offsets = slice} : f32[B, 4]
    ret %0
  }
}
