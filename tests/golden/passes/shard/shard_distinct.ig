# shard: where an id travels but once its row comes back, and bags are pooled at home, with their weights.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f16[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f16[B, 2], f16[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], distinct}
    %1, %2 = bag %0, %ids, %off, %w, %0, %ids, %off {operands = [5, 1], pool = [sum, mean], empty = [zero, nan], negative = skip}
    ret %1, %2
  }
}
# expect:
module @m {
  weight @a : f16[4, 2] = splat(1)
  weight @a.0 : f16[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f16[B, 2], f16[B, 2]) {
    %0, %1, %2 = bag_ids %ids, %off, %w {operands = 5, rows = 4, negative = skip} : i64[B], i64[ids], f32[ids]
    %3, %4, %5, %6, %7 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0], distinct} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %8, %9 = bag_ids %ids, %off {operands = 1, rows = 4, feature = 1, pool = mean, negative = skip} : i64[B], i64[ids2]
    %10, %11, %12, %13, %14 = deal %8, %9 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0], distinct} : i64[2*B], i64[2], i64[dealt2], i64[2], i64[ids2]
    %15, %16, %17, %18 = all_to_all %5, %6, %12, %13 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %19 = bag @a.0, %15 {operands = [0], pool = [none], negative = skip} : f16[came, 2]
    %20 = bag @a.0, %17 {operands = [0], pool = [none], negative = skip} : f16[came2, 2]
    %21, %22, %23, %24 = all_to_all %19, %16, %6, %20, %18, %13 {rank = 0, known} : f16[came3, 2], i64[2], f16[came4, 2], i64[2]
    %25 = cumsum %0 {axis = 0, complete} : i64[B + 1]
    %26 = bag %21, %7, %25, %2 {operands = [5], pool = [sum], last = [offset], negative = skip} : f16[B, 2]
    %27 = cumsum %8 {axis = 0, complete} : i64[B + 1]
    %28 = bag %23, %14, %27 {operands = [1], pool = [mean], last = [offset], empty = [nan], negative = skip} : f16[B, 2]
    ret %26, %28
  }
}
