# bag_sequence: the last maximum is that of all that is left of the ids.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n5, 4]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B - 1], scalar} : i64[]
    %6 = lt %1, %5 : bool[]
    %7 = const {value = -1} : i64[]
    %8 = seq_empty {of = f32} : seq<f32[1, 4]>
    %9, %10 = loop %7, %6, %8, %1 : seq<f32[1, 4]>, i64[] (%t32: i64[], %g33: bool[], %c34: seq<f32[1, 4]>, %c35: i64[]) {
      %11 = reshape %c35 {to = [1]} : i64[1]
      %12 = add %11, %0 : i64[1]
      %13 = slice %off, %11, %12 : i64[n]
      %14 = add %11, %2 : i64[1]
      %15 = slice %off, %12, %14 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %16 = eq %13, %15 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %17 = reshape %16 {to = []} : bool[]
      %18 = if %17 : f32[1, 4] {
        yield @zeros
      } else {
        %19 = dims {values = [B - 2], scalar} : i64[]
        %20 = eq %c35, %19 : bool[]
        %21 = if %20 : f32[if_67_d0, 4] {
          %22 = slice %3, %13, %4 : f32[n3, 4]
          yield %22
        } else {
          %23 = slice %3, %13, %15 : f32[n4, 4]
          yield %23
        }
        %24 = reduce %21 {op = max, axes = [0], keep} : f32[1, 4]
        yield %24
      }
      %25 = seq_insert %c34, %18 : seq<f32[1, 4]>
      %26 = add %c35, %0 : i64[]
      %27 = lt %26, %5 : bool[]
      yield %27, %25, %26
    }
    %28 = seq_concat %9 {axis = 0} : f32[n5, 4]
    ret %28
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = bag @table, %ids, %off {operands = [1], pool = [max], last = [rest], offsets = slice} : f32[B - 1, 4]
    ret %0
  }
}
