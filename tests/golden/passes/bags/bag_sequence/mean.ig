# bag_sequence: the last mean divides by what is left of the ids, which is the same.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
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
    %10, %11 = loop %8, %7, %9, %0 : seq<f32[1, 4]>, i64[] (%t31: i64[], %g32: bool[], %c33: seq<f32[1, 4]>, %c34: i64[]) {
      %12 = reshape %c34 {to = [1]} : i64[1]
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
        %21 = dims {values = [B - 1], scalar} : i64[]
        %22 = eq %c34, %21 : bool[]
        %23 = if %22 : f32[1, 4] {
          %24 = reduce %20 {op = sum, axes = [0], keep} : f32[1, 4]
          %25 = sub %4, %14 : i64[n]
          %26 = gt %25, %0 : bool[n]
          guard eq(n, 1)
          %27 = reshape %26 {to = []} : bool[]
          %28 = if %27 : f32[1, 4] {
            %29 = cast %25 {to = f32} : f32[n]
            %30 = div %24, %29 : f32[1, 4]
            yield %30
          } else {
            yield %24
          }
          yield %28
        } else {
          %31 = reduce %20 {op = mean, axes = [0], keep} : f32[1, 4]
          yield %31
        }
        yield %23
      }
      %32 = seq_insert %c33, %19 : seq<f32[1, 4]>
      %33 = add %c34, %1 : i64[]
      %34 = lt %33, %5 : bool[]
      yield %34, %32, %33
    }
    %35 = seq_concat %10 {axis = 0} : f32[n4, 4]
    ret %35
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [mean], offsets = slice} : f32[B, 4]
    ret %0
  }
}
