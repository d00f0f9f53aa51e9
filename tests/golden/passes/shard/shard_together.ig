# shard: bags of other rules travel together, and what needs one of them comes after; one that needs another's result travels for itself.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @b : i64[4, 1] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], i64[N, 1], f32[N, 2], f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0, 2]}
    %1 = shard @b {world = 2, rank = 0, parts = [1, 0, 4, 0, 1]}
    %2 = bag %0, %ids, %off {operands = [1], pool = [sum], negative = skip}
    %3 = relu %2
    %4 = bag %1, %ids {operands = [0], pool = [none], range = clamp}
    %5 = reshape %4 {to = [N]}
    %6 = bag %0, %5 {operands = [0], pool = [none]}
    %7 = bag @a, %ids, %off {operands = [1], pool = [sum], range = clamp}
    ret %3, %4, %6, %7
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @b : i64[4, 1] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], i64[N, 1], f32[N, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8 = bag_ids %ids {operands = 0, rows = 4, pool = none, range = clamp} : i64[N], i64[N]
    %9, %10, %11, %12, %13 = deal %7, %8 {world = 2, starts = [0], ranks = [1], bases = [0]} : i64[N], i64[2], i64[dealt2], i64[2], i64[N]
    %14, %15, %16, %17, %18, %19 = all_to_all %2, %3, %4, %5, %11, %12 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2]
    %20 = cumsum %14 {axis = 0, complete} : i64[came + 1]
    %21 = bag @a, %16, %20 {operands = [1], pool = [sum], last = [offset], negative = skip} : f32[came, 2]
    %22 = const {value = 0} : i64[]
    %23 = expand %22 {to = [0, 1]} : i64[0, 1]
    %24, %25, %26, %27 = all_to_all %21, %15, %3, %23, %19, %12 {rank = 0, known} : f32[came4, 2], i64[2], i64[came5, 1], i64[2]
    %28 = reshape %24 {to = [B, 2]} : f32[B, 2]
    %29 = bag %26, %13 {operands = [0], pool = [none], negative = skip} : i64[N, 1]
    %30 = relu %28 : f32[B, 2]
    %31 = reshape %29 {to = [N]} : i64[N]
    %32, %33 = bag_ids %31 {operands = 0, rows = 4, pool = none} : i64[N], i64[N]
    %34, %35, %36, %37, %38 = deal %32, %33 {world = 2, starts = [0], ranks = [0], bases = [0]} : i64[N], i64[2], i64[dealt3], i64[2], i64[N]
    %39, %40 = all_to_all %36, %37 {rank = 0} : i64[came6], i64[2]
    %41 = bag @a, %39 {operands = [0], pool = [none], negative = skip} : f32[came6, 2]
    %42, %43 = all_to_all %41, %40, %37 {rank = 0, known} : f32[came7, 2], i64[2]
    %44 = bag %42, %38 {operands = [0], pool = [none], negative = skip} : f32[N, 2]
    %45 = bag @a, %ids, %off {operands = [1], pool = [sum], range = clamp} : f32[B, 2]
    ret %30, %29, %44, %45
  }
}
