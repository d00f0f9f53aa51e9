module @chunks {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) {
    %0 = shard @a {world = 2, rank = 1, chunks = 2, parts = [0, 0, 4, 0, 1, 1, 0, 4, 1, 1]}
    %1, %2, %3 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 2, pool = mean, padding = 1, last = offset, negative = skip, range = clamp, offsets = slice}
    %4, %5, %6, %7, %8, %9 = deal %1, %2, %3 {world = 2, starts = [0, 3], ranks = [1, 0], bases = [0, 0], keep = true}
    %10, %11, %12, %13 = all_to_all %4, %5, %6, %7 {rank = 0, overlaps}
    %14 = bag %0, %12 {operands = [0], pool = [none]}
    %15 = reduce_scatter %14, %13 {rank = 0, overlaps}
    ret %15
  }
}
