# shard: columns are put side by side, look-ups without pooling find their rows again, and a rank without a table sends none; one that has all of it keeps it.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[3, 4] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  weight @b : f32[4, 2] = splat(2)
  table @q : u4<rowwise f16>[2, 8] = inline(0x003c000010325476003c000098badcfe)
  graph @main(%ids: i64[N], %off: i64[B], %ids2: i64[B, 2]) -> (f32[B, 4], f32[B, 2, 2], f32[B, 8]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 3, 0, 1, 1, 0, 3, 1, 1, 1, 0, 3, 2, 2]}
    %1 = shard @b {world = 2, rank = 0, parts = [0, 0, 4, 0, 2]}
    %2 = shard @q {world = 2, rank = 0, parts = [1, 0, 2, 0, 4, 0, 0, 2, 4, 4]}
    %3 = bag %0, %ids, %off {operands = [1], pool = [max]}
    %4 = bag %1, %ids2 {operands = [0], pool = [none]}
    %5 = bag %2, %ids2 {operands = [0], pool = [mean]}
    ret %3, %4, %5
  }
}
# expect:
module @m {
  weight @a : f32[3, 4] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  weight @b : f32[4, 2] = splat(2)
  table @q : u4<rowwise f16>[2, 8] = inline(0x003c000010325476003c000098badcfe)
  weight @a.0 : f32[3, 1] = [0, 4, 8]
  table @q.1 : u4<rowwise f16>[2, 4] = inline(0x003c00005476003c0000dcfe)
  graph @main(%ids: i64[N], %off: i64[B], %ids2: i64[B, 2]) -> (f32[B, 4], f32[B, 2, 2], f32[B, 8]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 3, pool = max} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10, %11 = deal %0, %1 {world = 2, starts = [0], ranks = [1], bases = [0], keep} : i64[B], i64[2], i64[dealt2], i64[2], i64[ids]
    %12, %13 = bag_ids %ids2 {operands = 0, rows = 4, pool = none} : i64[2*B], i64[2*B]
    %14, %15, %16, %17, %18 = deal %12, %13 {world = 2, starts = [0], ranks = [0], bases = [0]} : i64[2*B], i64[2], i64[dealt3], i64[2], i64[2*B]
    %19, %20 = bag_ids %ids2 {operands = 0, rows = 2, pool = mean} : i64[B], i64[ids2]
    %21, %22, %23, %24, %25 = deal %19, %20 {world = 2, starts = [0], ranks = [1], bases = [0], keep} : i64[B], i64[2], i64[dealt4], i64[2], i64[ids2]
    %26, %27, %28, %29, %30 = deal %19, %20 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt5], i64[2], i64[ids2]
    %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48 = all_to_all %2, %3, %4, %5, %7, %8, %9, %10, %16, %17, %21, %22, %23, %24, %26, %27, %28, %29 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2], i64[came5], i64[2], i64[came6], i64[2], i64[came7], i64[2], i64[came8], i64[2], i64[came9], i64[2]
    %49 = cumsum %31 {axis = 0, complete} : i64[came + 1]
    %50 = bag @a.0, %33, %49 {operands = [1], pool = [max], last = [offset], negative = skip} : f32[came, 1]
    %51 = const {value = 0} : f32[]
    %52 = expand %51 {to = [0, 3]} : f32[0, 3]
    %53 = bag @b, %39 {operands = [0], pool = [none], negative = skip} : f32[came5, 2]
    %54 = const {value = 0} : f32[]
    %55 = expand %54 {to = [0, 4]} : f32[0, 4]
    %56 = cumsum %45 {axis = 0, complete} : i64[came8 + 1]
    %57 = bag @q.1, %47, %56 {operands = [1], pool = [mean], last = [offset], negative = skip} : f32[came8, 4]
    %58, %59, %60, %61, %62, %63, %64, %65, %66, %67 = all_to_all %50, %32, %3, %52, %36, %8, %53, %40, %17, %55, %42, %22, %57, %46, %27 {rank = 0, known} : f32[came10, 1], i64[2], f32[came11, 3], i64[2], f32[came12, 2], i64[2], f32[came13, 4], i64[2], f32[came14, 4], i64[2]
    %68 = reshape %58 {to = [B, 1]} : f32[B, 1]
    %69 = reshape %60 {to = [B, 3]} : f32[B, 3]
    %70 = concat %68, %69 {axis = 1} : f32[B, 4]
    %71 = bag %62, %18 {operands = [0], pool = [none], negative = skip} : f32[2*B, 2]
    %72 = reshape %71 {to = [B, 2, 2]} : f32[B, 2, 2]
    %73 = reshape %64 {to = [B, 4]} : f32[B, 4]
    %74 = reshape %66 {to = [B, 4]} : f32[B, 4]
    %75 = concat %73, %74 {axis = 1} : f32[B, 8]
    ret %70, %72, %75
  }
}
