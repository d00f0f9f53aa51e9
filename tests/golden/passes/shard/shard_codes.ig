# shard: rows of f32 travel as codes of 8 bits and a step a row; maxima, which may be infinite, as they are.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], wire = i8}
    %1, %2 = bag %0, %ids, %off, %0, %ids, %off {operands = [1, 1], pool = [sum, max], negative = skip}
    ret %1, %2
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @a.0 : f32[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8 = bag_ids %ids, %off {operands = 1, rows = 4, feature = 1, pool = max, negative = skip} : i64[B], i64[ids2]
    %9, %10, %11, %12, %13 = deal %7, %8 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt2], i64[2], i64[ids2]
    %14, %15, %16, %17, %18, %19, %20, %21 = all_to_all %2, %3, %4, %5, %9, %10, %11, %12 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2]
    %22 = cumsum %14 {axis = 0, complete} : i64[came + 1]
    %23 = bag @a.0, %16, %22 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %24 = abs %23 : f32[came, 2]
    %25 = reduce %24 {op = max, axes = [1], keep} : f32[came, 1]
    %26 = const {value = 127} : f32[]
    %27 = div %25, %26 : f32[came, 1]
    %28 = div %23, %27 : f32[came, 2]
    %29 = round %28 : f32[came, 2]
    %30 = abs %29 : f32[came, 2]
    %31 = const {value = 127} : f32[]
    %32 = le %30, %31 : bool[came, 2]
    %33 = const {value = 0} : f32[]
    %34 = where %32, %29, %33 : f32[came, 2]
    %35 = cast %34 {to = i8} : i8[came, 2]
    %36 = cumsum %18 {axis = 0, complete} : i64[came3 + 1]
    %37 = bag @a.0, %20, %36 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came3, 2]
    %38, %39, %40, %41, %42, %43 = all_to_all %35, %15, %3, %27, %15, %3, %37, %19, %10 {rank = 0, known} : i8[came5, 2], i64[2], f32[came6, 1], i64[2], f32[came7, 2], i64[2]
    %44 = cast %38 {to = f32} : f32[came5, 2]
    %45 = mul %44, %40 : f32[bcast(came5, came6), 2]
    %46 = reshape %45 {to = [2, B, 2]} : f32[2, B, 2]
    %47 = reduce %46 {axes = [0]} : f32[B, 2]
    %48 = reshape %42 {to = [2, B, 2]} : f32[2, B, 2]
    %49 = reduce %48 {op = max, axes = [0]} : f32[B, 2]
    %50 = const {value = 0} : i64[]
    %51 = eq %7, %50 : bool[B]
    %52 = const {value = 0} : f32[]
    %53 = reshape %51 {to = [B, 1]} : bool[B, 1]
    %54 = where %53, %52, %49 : f32[B, 2]
    ret %47, %54
  }
}
