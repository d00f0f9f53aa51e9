# bag_sequence: the last mean divides by what is left of the ids, which may be more.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [B - 1], scalar} : i64[]
    %5 = lt %1, %4 : bool[]
    %6 = const {value = -1} : i64[]
    %7 = seq_empty {of = f32} : seq<f32[1, 4]>
    %8, %9 = loop %6, %5, %7, %1 : seq<f32[1, 4]>, i64[] (%t32: i64[], %g33: bool[], %c34: seq<f32[1, 4]>, %c35: i64[]) {
      %10 = reshape %c35 {to = [1]} : i64[1]
      %11 = add %10, %0 : i64[1]
      %12 = slice %off, %10, %11 : i64[n]
      %13 = add %10, %2 : i64[1]
      %14 = slice %off, %11, %13 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %15 = eq %12, %14 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %16 = reshape %15 {to = []} : bool[]
      %17 = if %16 : f32[1, 4] {
        yield @zeros
      } else {
        %18 = slice %3, %12, %14 : f32[n3, 4]
        %19 = dims {values = [B - 2], scalar} : i64[]
        %20 = eq %c35, %19 : bool[]
        %21 = if %20 : f32[1, 4] {
          %22 = reduce %18 {op = sum, axes = [0], keep} : f32[1, 4]
          %23 = dims {values = [N]} : i64[1]
          %24 = sub %23, %12 : i64[n]
          %25 = gt %24, %1 : bool[n]
          guard eq(n, 1)
          %26 = reshape %25 {to = []} : bool[]
          %27 = if %26 : f32[1, 4] {
            %28 = cast %24 {to = f32} : f32[n]
            %29 = div %22, %28 : f32[1, 4]
            yield %29
          } else {
            yield %22
          }
          yield %27
        } else {
          %30 = reduce %18 {op = mean, axes = [0], keep} : f32[1, 4]
          yield %30
        }
        yield %21
      }
      %31 = seq_insert %c34, %17 : seq<f32[1, 4]>
      %32 = add %c35, %0 : i64[]
      %33 = lt %32, %4 : bool[]
      yield %33, %31, %32
    }
    %34 = seq_concat %8 {axis = 0} : f32[n4, 4]
    ret %34
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = bag @table, %ids, %off {operands = [1], pool = [mean], last = [mean], offsets = slice} : f32[B - 1, 4]
    ret %0
  }
}
