# shard: rows on all ranks are added by reduce_scatter, those on some come and are added here; a mean is divided at home; a table that all have stays.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[5, 2] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  weight @b : f16[4, 2] = splat(2)
  weight @c : f32[3, 2] = splat(3)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 2], f16[B, 2], f32[B, 2]) {
    %0 = shard @a {world = 3, rank = 1, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2, 2, 4, 1, 0, 2]}
    %1 = shard @b {world = 3, rank = 1, parts = [0, 0, 2, 0, 2, 1, 2, 1, 0, 2, 1, 3, 1, 0, 2]}
    %2 = shard @c {world = 3, rank = 1}
    %3, %4, %5 = bag %0, %ids, %off, %1, %ids, %off, %w, %2, %ids, %off {operands = [1, 5, 1], pool = [mean, sum, sum], negative = skip, range = clamp}
    ret %3, %4, %5
  }
}
# expect:
module @m {
  weight @a : f32[5, 2] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  weight @b : f16[4, 2] = splat(2)
  weight @c : f32[3, 2] = splat(3)
  weight @a.0 : f32[2, 2] = [4, 5, 6, 7]
  weight @b.0 : f16[2, 2] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 2], f16[B, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 5, pool = mean, negative = skip, range = clamp} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 3, starts = [0, 2, 4], ranks = [0, 1, 2], bases = [0, 0, 0]} : i64[3*B], i64[3], i64[dealt], i64[3], i64[ids]
    %7, %8, %9 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 1, negative = skip, range = clamp} : i64[B], i64[ids2], f32[ids2]
    %10, %11, %12, %13, %14, %15 = deal %7, %8, %9 {world = 3, starts = [0, 2, 3], ranks = [0, 1, 1], bases = [0, 0, 1]} : i64[2*B], i64[3], i64[dealt2], i64[3], i64[ids2], f32[dealt2]
    %16, %17, %18, %19, %20, %21, %22, %23, %24, %25 = all_to_all %2, %3, %4, %5, %10, %11, %12, %13, %15, %13 {rank = 1} : i64[came], i64[3], i64[came2], i64[3], i64[came3], i64[3], i64[came4], i64[3], f32[came5], i64[3]
    %26 = cumsum %16 {axis = 0, complete} : i64[came + 1]
    %27 = bag @a.0, %18, %26 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %28 = cumsum %20 {axis = 0, complete} : i64[came3 + 1]
    %29 = bag @b.0, %22, %28, %24 {operands = [5], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came3, 2]
    %30 = reduce_scatter %27, %17 {rank = 1} : f32[came6, 2]
    %31, %32 = all_to_all %29, %21, %11 {rank = 1, known} : f32[came7, 2], i64[3]
    %33 = reshape %30 {to = [B, 2]} : f32[B, 2]
    %34 = cast %0 {to = f32} : f32[B]
    %35 = reshape %34 {to = [B, 1]} : f32[B, 1]
    %36 = div %33, %35 : f32[B, 2]
    %37 = const {value = 0} : i64[]
    %38 = eq %0, %37 : bool[B]
    %39 = const {value = 0} : f32[]
    %40 = reshape %38 {to = [B, 1]} : bool[B, 1]
    %41 = where %40, %39, %36 : f32[B, 2]
    %42 = reshape %31 {to = [2, B, 2]} : f32[2, B, 2]
    %43 = reduce %42 {axes = [0]} : f32[B, 2]
    %44 = cast %43 {to = f16} : f16[B, 2]
    %45 = bag @c, %ids, %off {operands = [1], pool = [sum], negative = skip, range = clamp} : f32[B, 2]
    ret %41, %44, %45
  }
}
