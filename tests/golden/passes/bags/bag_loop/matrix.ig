# bag_loop: a range of offsets is a matrix of ids, with a weight each.
# run: bag_loop,dce
# refuses: weights that only broadcasting makes as many as the ids
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    %0 = dims {values = [B*L], scalar} : i64[]
    %1 = dims {values = [L], scalar} : i64[]
    %2 = const {value = 0} : i64[]
    %3 = range %2, %0, %1 : i64[B]
    %4 = reshape %ids {to = [B*L]} : i64[B*L]
    %5 = reshape %weights {to = [B2*L_2]} : f32[B2*L_2]
    %6 = const {value = true} : bool[]
    %7 = dims {values = [B*L]} : i64[1]
    %8 = concat %3, %7 {axis = 0} : i64[B + 1]
    %9 = slice %8 {starts = [1], sizes = [B]} : i64[B]
    %10 = dims {values = [B], scalar} : i64[]
    %11 = loop %10, %6 {scans = 1} : f32[B, 4] (%i_51: i64[], %g52: bool[]) {
      %12 = gather %8, %i_51 {axis = 0} : i64[]
      %13 = gather %9, %i_51 {axis = 0} : i64[]
      %14 = reshape %12 {to = [1]} : i64[1]
      %15 = reshape %13 {to = [1]} : i64[1]
      %16 = const {value = [0]} : i64[1]
      %17 = slice %4, %14, %15, %16 : i64[n]
      %18 = gather @table, %17 {axis = 0} : f32[n, 4]
      %19 = slice %5, %14, %15, %16 : f32[n2]
      %20 = reshape %19 {to = [n2, 1]} : f32[n2, 1]
      guard eq(bcast(n, n2), bcast(n2, n))
      %21 = mul %18, %20 : f32[bcast(n, n2), 4]
      %22 = reduce %21 {op = sum, axes = [0]} : f32[4]
      yield %6, %22
    }
    ret %11
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    %0 = reshape %weights {to = [B2*L_2]} : f32[B2*L_2]
    guard eq(B2*L_2, B*L) "there must be one weight an id"
    %1 = reshape %0 {to = [B*L]} : f32[B*L]
    %2 = reshape %1 {to = [B, L]} : f32[B, L]
    %3 = bag @table, %ids, %2 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %3
  }
}
