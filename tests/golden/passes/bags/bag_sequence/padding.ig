# bag_sequence: an inner loop leaves the padding id out; the last offset is overwritten.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n, 4]) {
    %0 = const {value = 11} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = [-1]} : i64[1]
    %3 = const {value = 0} : i64[]
    %4 = const {value = []} : i64[0]
    %5 = gather @table, %ids {axis = 0} : f32[N, 4]
    %6 = dims {values = [N]} : i64[1]
    %7 = dims {values = [B - 1], scalar} : i64[]
    %8 = scatter_elements %off, %2, %6 {axis = 0} : i64[B]
    %9 = lt %3, %7 : bool[]
    %10 = const {value = -1} : i64[]
    %11 = seq_empty {of = f32} : seq<f32[1, 4]>
    %12, %13 = loop %10, %9, %11, %3 : seq<f32[1, 4]>, i64[] (%t33: i64[], %g34: bool[], %c35: seq<f32[1, 4]>, %c36: i64[]) {
      %14 = gather %8, %c36 {axis = 0} : i64[]
      %15 = add %c36, %1 : i64[]
      %16 = gather %8, %15 {axis = 0} : i64[]
      %17 = lt %14, %16 : bool[]
      %18, %19 = loop %10, %17, %14, %4 : i64[], i64[loop] (%t48: i64[], %g49: bool[], %c50: i64[], %c51: i64[carried1_d0]) {
        %20 = gather %ids, %c50 {axis = 0} : i64[]
        %21 = lt %20, %3 : bool[]
        %22 = if %21 : i64[] {
          %23 = add %20, %0 : i64[]
          yield %23
        } else {
          yield %20
        }
        %24 = eq %22, %1 : bool[]
        %25 = not %24 : bool[]
        %26 = if %25 : i64[if_75_d0_2] {
          %27 = reshape %c50 {to = [1]} : i64[1]
          %28 = concat %c51, %27 {axis = 0} : i64[carried1_d0 + 1]
          yield %28
        } else {
          yield %c51
        }
        %29 = add %c50, %1 : i64[]
        %30 = lt %29, %16 : bool[]
        yield %30, %29, %26
      }
      %31 = dims {values = [loop], scalar} : i64[]
      %32 = eq %31, %3 : bool[]
      %33 = if %32 : f32[1, 4] {
        yield @zeros
      } else {
        %34 = gather %5, %19 {axis = 0} : f32[loop, 4]
        %35 = reduce %34 {op = mean, axes = [0], keep} : f32[1, 4]
        yield %35
      }
      %36 = seq_insert %c35, %33 : seq<f32[1, 4]>
      %37 = lt %15, %7 : bool[]
      yield %37, %36, %15
    }
    %38 = seq_concat %12 {axis = 0} : f32[n, 4]
    ret %38
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = slice %off {starts = [0], sizes = [B - 1]} : i64[B - 1]
    %1 = bag @table, %ids, %0 {operands = [1], pool = [mean], padding = [1], offsets = slice} : f32[B - 1, 4]
    ret %1
  }
}
