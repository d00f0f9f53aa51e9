module @ranks {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[came3, 2], f32[N], f32[4*came2, 2], i64[4*N]) {
    %0 = shard @a {world = 2, rank = 1, parts = [0, 0, 4, 0, 1, 1, 0, 4, 1, 1]} : f32[4, 2]
    %1, %2, %3 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 2, padding = 1, pool = mean, last = offset, negative = skip, range = clamp, offsets = slice} : i64[B - 1], i64[ids], f32[ids]
    %4, %5, %6, %7, %8, %9 = deal %1, %2, %3 {world = 2, starts = [0, 3], ranks = [1, 0], bases = [0, 0], keep} : i64[2*B - 2], i64[2], i64[dealt], i64[2], i64[ids], f32[dealt]
    %10, %11, %12, %13 = all_to_all %4, %5, %6, %7 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %14 = bag %0, %12 {operands = [0], pool = [none]} : f32[came2, 2]
    %15 = reduce_scatter %14, %13 {rank = 0} : f32[came3, 2]
    %16, %17 = all_reduce %14, %w {world = 4} : f32[came2, 2], f32[N]
    %18, %19 = all_gather %16, %ids {world = 4} : f32[4*came2, 2], i64[4*N]
    ret %15, %17, %18, %19
  }
}
