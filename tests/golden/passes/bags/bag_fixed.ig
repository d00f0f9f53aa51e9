# ---- mask ----
# bag_fixed: a mask for all samples is repeated; ids of three dims pool the last one; keep.
# run: bag_fixed,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @mask(%ids: i64[B, 3], %mask: f32[1, 3, 1]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, 3, 4]
    %1 = mul %mask, %0 : f32[B, 3, 4]
    %2 = reduce %1 {op = max, axes = [-2]} : f32[B, 4]
    ret %2
  }
  graph @deep(%ids: i32[B, 2, L]) -> (f32[B, 2, 1, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, 2, L, 4]
    %1 = reduce %0 {op = mean, axes = [2], keep} : f32[B, 2, 1, 4]
    ret %1
  }
  graph @flat(%ids: i64[B, 5]) -> (f32[B, 4]) {
    %0 = reshape %ids {to = [5*B]} : i64[5*B]
    %1 = gather @table, %0 {axis = 0} : f32[5*B, 4]
    %2 = reshape %1 {to = [B, 5, 4]} : f32[B, 5, 4]
    %3 = reduce %2 {op = sum, axes = [1]} : f32[B, 4]
    ret %3
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @mask(%ids: i64[B, 3], %mask: f32[1, 3, 1]) -> (f32[B, 4]) {
    %0 = expand %mask {to = [B, 3, 1]} : f32[B, 3, 1]
    %1 = reshape %0 {to = [B, 3]} : f32[B, 3]
    %2 = bag @table, %ids, %1 {operands = [4], pool = [max], empty = [neg_inf]} : f32[B, 4]
    ret %2
  }
  graph @deep(%ids: i32[B, 2, L]) -> (f32[B, 2, 1, 4]) {
    %0 = reshape %ids {to = [2*B, L]} : i32[2*B, L]
    %1 = bag @table, %0 {operands = [0], pool = [mean], empty = [nan]} : f32[2*B, 4]
    %2 = reshape %1 {to = [B, 2, 1, 4]} : f32[B, 2, 1, 4]
    ret %2
  }
  graph @flat(%ids: i64[B, 5]) -> (f32[B, 4]) {
    %0 = reshape %ids {to = [5*B]} : i64[5*B]
    %1 = reshape %0 {to = [B, 5]} : i64[B, 5]
    %2 = bag @table, %1 {operands = [0], pool = [sum]} : f32[B, 4]
    ret %2
  }
}
# ---- stays ----
# bag_fixed: known ids, another axis, weights along the row, a table that is computed.
# run: bag_fixed,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @known() -> (f32[1, 4]) {
    %ids = const {value = [1, 2]} : i64[1, 2]
    %0 = gather @table, %ids {axis = 0} : f32[1, 2, 4]
    %1 = reduce %0 {op = sum, axes = [1]} : f32[1, 4]
    ret %1
  }
  graph @axis(%ids: i64[B, L]) -> (f32[L, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[L, 4]
    ret %1
  }
  graph @along(%ids: i64[B, L], %w: f32[B, L, 4]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = mul %0, %w : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
  graph @computed(%ids: i64[B, L], %x: f32[11, 4]) -> (f32[B, 4]) {
    %0 = relu %x : f32[11, 4]
    %1 = gather %0, %ids {axis = 0} : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @known() -> (f32[1, 4]) {
    %0 = const {value = [1, 2]} : i64[1, 2]
    %1 = gather @table, %0 {axis = 0} : f32[1, 2, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[1, 4]
    ret %2
  }
  graph @axis(%ids: i64[B, L]) -> (f32[L, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[L, 4]
    ret %1
  }
  graph @along(%ids: i64[B, L], %w: f32[B, L, 4]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = mul %0, %w : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
  graph @computed(%ids: i64[B, L], %x: f32[11, 4]) -> (f32[B, 4]) {
    %0 = relu %x : f32[11, 4]
    %1 = gather %0, %ids {axis = 0} : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
}
# ---- weighted ----
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
