# bag_fixed: as many ids a bag, with a weight each; the extents are not known to be equal.
# run: bag_fixed,dce
# refuses: weights that only broadcasting makes as many as the ids
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %w: f32[C, K]) -> (f32[bcast(B, C), 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = reshape %w {to = [C, K, 1]} : f32[C, K, 1]
    guard eq(bcast(B, C), bcast(C, B))
    guard eq(bcast(L, K), bcast(K, L))
    %2 = mul %0, %1 : f32[bcast(B, C), bcast(L, K), 4]
    %3 = reduce %2 {op = sum, axes = [1]} : f32[bcast(B, C), 4]
    ret %3
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %w: f32[C, K]) -> (f32[B, 4]) {
    guard eq(bcast(B, C), bcast(C, B))
    guard eq(bcast(L, K), bcast(K, L))
    guard eq(B, C) "there must be one weight an id"
    guard eq(L, K) "there must be one weight an id"
    %0 = reshape %w {to = [B, L]} : f32[B, L]
    %1 = bag @table, %ids, %0 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %1
  }
}
