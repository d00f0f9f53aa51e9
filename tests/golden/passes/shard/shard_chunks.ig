# shard: the batch in two chunks; ids travel at once, rows of a chunk while the other is computed with; what is needed whole is put together.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_chunks runs them)
module @m {
  weight @a : f32[4, 8] = splat(2)
  weight @w : f32[16, 4] = splat(0.5)
  weight @v : f32[13, 8] = splat(0.25)
  graph @main(%x: f32[B, 13], %ids: i64[N], %off: i64[B], %ids2: i64[B, 3]) -> (f32[B, 4], f32[4]) {
    %0 = shard @a {world = 2, rank = 1, chunks = 2, parts = [0, 0, 3, 0, 8, 1, 3, 1, 0, 8]}
    %1 = matmul %x, @v
    %2 = relu %1
    %3, %4 = bag %0, %ids, %off, %0, %ids2 {operands = [1, 0], pool = [sum, max], negative = skip}
    %5 = add %3, %4
    %6 = concat %2, %5 {axis = 1}
    %7 = matmul %6, @w
    %8 = reduce %7 {axes = [0]}
    ret %7, %8
  }
}
# expect:
module @m {
  weight @a : f32[4, 8] = splat(2)
  weight @w : f32[16, 4] = splat(0.5)
  weight @v : f32[13, 8] = splat(0.25)
  weight @a.0 : f32[1, 8] = splat(2)
  graph @main(%x: f32[B, 13], %ids: i64[N], %off: i64[B], %ids2: i64[B, 3]) -> (f32[B, 4], f32[4]) {
    %0 = dims {values = [N]} : i64[1]
    %1 = concat %off, %0 {axis = 0} : i64[B + 1]
    %2 = slice %1 {starts = [0], sizes = [floor(B / 2) + 1]} : i64[floor(B / 2) + 1]
    %3 = slice %ids2 {starts = [0, 0], sizes = [floor(B / 2), 3]} : i64[floor(B / 2), 3]
    %4 = slice %1 {starts = [floor(B / 2)], sizes = [B - floor(B / 2) + 1]} : i64[B - floor(B / 2) + 1]
    %5 = slice %ids2 {starts = [floor(B / 2), 0], sizes = [B - floor(B / 2), 3]} : i64[B - floor(B / 2), 3]
    %6, %7 = bag_ids %ids, %2 {operands = 1, rows = 4, last = offset, negative = skip} : i64[floor(B / 2)], i64[ids]
    %8, %9, %10, %11, %12 = deal %6, %7 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*floor(B / 2)], i64[2], i64[dealt], i64[2], i64[ids]
    %13, %14 = bag_ids %3 {operands = 0, rows = 4, feature = 1, pool = max, negative = skip} : i64[floor(B / 2)], i64[ids2]
    %15, %16, %17, %18, %19 = deal %13, %14 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*floor(B / 2)], i64[2], i64[dealt2], i64[2], i64[ids2]
    %20, %21 = bag_ids %ids, %4 {operands = 1, rows = 4, last = offset, negative = skip} : i64[B - floor(B / 2)], i64[ids3]
    %22, %23, %24, %25, %26 = deal %20, %21 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*B - 2*floor(B / 2)], i64[2], i64[dealt3], i64[2], i64[ids3]
    %27, %28 = bag_ids %5 {operands = 0, rows = 4, feature = 1, pool = max, negative = skip} : i64[B - floor(B / 2)], i64[ids4]
    %29, %30, %31, %32, %33 = deal %27, %28 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*B - 2*floor(B / 2)], i64[2], i64[dealt4], i64[2], i64[ids4]
    %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49 = all_to_all %8, %9, %10, %11, %15, %16, %17, %18, %22, %23, %24, %25, %29, %30, %31, %32 {rank = 1, overlaps} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2], i64[came5], i64[2], i64[came6], i64[2], i64[came7], i64[2], i64[came8], i64[2]
    %50 = matmul %x, @v : f32[B, 8]
    %51 = relu %50 : f32[B, 8]
    %52 = cumsum %34 {axis = 0, complete} : i64[came + 1]
    %53 = bag @a.0, %36, %52 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 8]
    %54 = cumsum %38 {axis = 0, complete} : i64[came3 + 1]
    %55 = bag @a.0, %40, %54 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came3, 8]
    %56 = reduce_scatter %53, %35 {rank = 1, overlaps} : f32[came9, 8]
    %57, %58 = all_to_all %55, %39, %16 {rank = 1, overlaps, known} : f32[came10, 8], i64[2]
    %59 = cumsum %42 {axis = 0, complete} : i64[came5 + 1]
    %60 = bag @a.0, %44, %59 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came5, 8]
    %61 = cumsum %46 {axis = 0, complete} : i64[came7 + 1]
    %62 = bag @a.0, %48, %61 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came7, 8]
    %63 = reduce_scatter %60, %43 {rank = 1, overlaps} : f32[came11, 8]
    %64, %65 = all_to_all %62, %47, %30 {rank = 1, overlaps, known} : f32[came12, 8], i64[2]
    %66 = reshape %56 {to = [floor(B / 2), 8]} : f32[floor(B / 2), 8]
    %67 = reshape %57 {to = [2, floor(B / 2), 8]} : f32[2, floor(B / 2), 8]
    %68 = reduce %67 {op = max, axes = [0]} : f32[floor(B / 2), 8]
    %69 = const {value = 0} : i64[]
    %70 = eq %13, %69 : bool[floor(B / 2)]
    %71 = const {value = 0} : f32[]
    %72 = reshape %70 {to = [floor(B / 2), 1]} : bool[floor(B / 2), 1]
    %73 = where %72, %71, %68 : f32[floor(B / 2), 8]
    %74 = add %66, %73 : f32[floor(B / 2), 8]
    %75 = slice %51 {starts = [0, 0], sizes = [floor(B / 2), 8]} : f32[floor(B / 2), 8]
    %76 = concat %75, %74 {axis = 1} : f32[floor(B / 2), 16]
    %77 = matmul %76, @w : f32[floor(B / 2), 4]
    %78 = reshape %63 {to = [B - floor(B / 2), 8]} : f32[B - floor(B / 2), 8]
    %79 = reshape %64 {to = [2, B - floor(B / 2), 8]} : f32[2, B - floor(B / 2), 8]
    %80 = reduce %79 {op = max, axes = [0]} : f32[B - floor(B / 2), 8]
    %81 = const {value = 0} : i64[]
    %82 = eq %27, %81 : bool[B - floor(B / 2)]
    %83 = const {value = 0} : f32[]
    %84 = reshape %82 {to = [B - floor(B / 2), 1]} : bool[B - floor(B / 2), 1]
    %85 = where %84, %83, %80 : f32[B - floor(B / 2), 8]
    %86 = add %78, %85 : f32[B - floor(B / 2), 8]
    %87 = slice %51 {starts = [floor(B / 2), 0], sizes = [B - floor(B / 2), 8]} : f32[B - floor(B / 2), 8]
    %88 = concat %87, %86 {axis = 1} : f32[B - floor(B / 2), 16]
    %89 = matmul %88, @w : f32[B - floor(B / 2), 4]
    %90 = concat %77, %89 {axis = 0} : f32[B, 4]
    %91 = reduce %90 {axes = [0]} : f32[4]
    ret %90, %91
  }
}
