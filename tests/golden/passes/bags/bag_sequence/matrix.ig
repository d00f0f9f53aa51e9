# bag_sequence: a matrix of ids, with a weight each.
# run: bag_sequence,dce
# refuses: weights that only broadcasting makes as many as the ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = dims {values = [B], scalar} : i64[]
    %4 = dims {values = [L], scalar} : i64[]
    %5 = dims {values = [B*L], scalar} : i64[]
    %6 = range %0, %5, %4 : i64[B]
    %7 = reshape %ids {to = [B*L]} : i64[B*L]
    %8 = gather @table, %7 {axis = 0} : f32[B*L, 4]
    %9 = reshape %weights {to = [B2*L_2, 1]} : f32[B2*L_2, 1]
    guard eq(bcast(B*L, B2*L_2), bcast(B2*L_2, B*L))
    %10 = mul %8, %9 : f32[bcast(B*L, B2*L_2), 4]
    %11 = dims {values = [B*L]} : i64[1]
    %12 = concat %6, %11 {axis = 0} : i64[B + 1]
    %13 = lt %0, %3 : bool[]
    %14 = const {value = -1} : i64[]
    %15 = seq_empty {of = f32} : seq<f32[1, 4]>
    %16, %17 = loop %14, %13, %15, %0 : seq<f32[1, 4]>, i64[] (%t42: i64[], %g43: bool[], %c44: seq<f32[1, 4]>, %c45: i64[]) {
      %18 = reshape %c45 {to = [1]} : i64[1]
      %19 = add %18, %1 : i64[1]
      %20 = slice %12, %18, %19 : i64[n]
      %21 = add %18, %2 : i64[1]
      %22 = slice %12, %19, %21 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %23 = eq %20, %22 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %24 = reshape %23 {to = []} : bool[]
      %25 = if %24 : f32[1, 4] {
        yield @zeros
      } else {
        %26 = slice %10, %20, %22 : f32[n3, 4]
        %27 = reduce %26 {op = sum, axes = [0], keep} : f32[1, 4]
        yield %27
      }
      %28 = seq_insert %c44, %25 : seq<f32[1, 4]>
      %29 = add %c45, %1 : i64[]
      %30 = lt %29, %3 : bool[]
      yield %30, %28, %29
    }
    %31 = seq_concat %16 {axis = 0} : f32[n4, 4]
    ret %31
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    guard eq(bcast(B*L, B2*L_2), bcast(B2*L_2, B*L))
    guard eq(B2*L_2, B*L) "there must be one weight an id"
    %0 = reshape %weights {to = [B*L]} : f32[B*L]
    %1 = reshape %0 {to = [B, L]} : f32[B, L]
    %2 = bag @table, %ids, %1 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %2
  }
}
