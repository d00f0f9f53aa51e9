# shard: rows of f32 travel as bf16, and are added in f32 where they arrive; so no reduce_scatter adds them on the way.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], wire = bf16}
    %1 = bag %0, %ids, %off {operands = [1], pool = [sum], negative = skip}
    ret %1
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @a.0 : f32[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10 = all_to_all %2, %3, %4, %5 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %11 = cumsum %7 {axis = 0, complete} : i64[came + 1]
    %12 = bag @a.0, %9, %11 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %13 = cast %12 {to = bf16} : bf16[came, 2]
    %14, %15 = all_to_all %13, %8, %3 {rank = 0, known} : bf16[came3, 2], i64[2]
    %16 = cast %14 {to = f32} : f32[came3, 2]
    %17 = reshape %16 {to = [2, B, 2]} : f32[2, B, 2]
    %18 = reduce %17 {axes = [0]} : f32[B, 2]
    ret %18
  }
}
