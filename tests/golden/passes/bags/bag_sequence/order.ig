# bag_sequence: carried values in the other order.
# run: bag_sequence,dce
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = concat %off, %4 {axis = 0} : i64[B + 1]
    %7 = lt %0, %5 : bool[]
    %8 = const {value = -1} : i64[]
    %9 = seq_empty {of = f32} : seq<f32[1, 4]>
    %10, %11 = loop %8, %7, %0, %9 : i64[], seq<f32[1, 4]> (%t31: i64[], %g32: bool[], %c33: i64[], %c34: seq<f32[1, 4]>) {
      %12 = reshape %c33 {to = [1]} : i64[1]
      %13 = add %12, %1 : i64[1]
      %14 = slice %6, %12, %13 : i64[n]
      %15 = add %12, %2 : i64[1]
      %16 = slice %6, %13, %15 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %17 = eq %14, %16 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %18 = reshape %17 {to = []} : bool[]
      %19 = if %18 : f32[1, 4] {
        yield @zeros
      } else {
        %20 = slice %3, %14, %16 : f32[n3, 4]
        %21 = reduce %20 {op = sum, axes = [0], keep} : f32[1, 4]
        yield %21
      }
      %22 = seq_insert %c34, %19 : seq<f32[1, 4]>
      %23 = add %c33, %1 : i64[]
      %24 = lt %23, %5 : bool[]
      yield %24, %23, %22
    }
    %25 = seq_concat %11 {axis = 0} : f32[n4, 4]
    ret %25
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [sum], offsets = slice} : f32[B, 4]
    ret %0
  }
}
