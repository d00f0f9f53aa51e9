# bag_loop: casts of offsets are looked through; a maximum of nothing is -inf.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i32[N], %off: i32[B]) -> (f32[B, 4]) {
    %0 = const {value = true} : bool[]
    %1 = dims {values = [N]} : i64[1]
    %2 = cast %off {to = i64} : i64[B]
    %3 = concat %2, %1 {axis = 0} : i64[B + 1]
    %4 = slice %3 {starts = [1], sizes = [B]} : i64[B]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = loop %5, %0 {scans = 1} : f32[B, 4] (%i_27: i64[], %g28: bool[]) {
      %7 = gather %3, %i_27 {axis = 0} : i64[]
      %8 = gather %4, %i_27 {axis = 0} : i64[]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = reshape %8 {to = [1]} : i64[1]
      %11 = const {value = [0]} : i64[1]
      %12 = slice %ids, %9, %10, %11 : i32[n]
      %13 = gather @table, %12 {axis = 0} : f32[n, 4]
      %14 = reduce %13 {op = max, axes = [0]} : f32[4]
      yield %0, %14
    }
    ret %6
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i32[N], %off: i32[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [max], empty = [neg_inf], offsets = slice} : f32[B, 4]
    ret %0
  }
}
