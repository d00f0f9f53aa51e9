# ---- bag_offsets ----
# bag_offsets: even begins are a matrix of ids, ends that are the next begins one list; others stay.
# run: bag_offsets,dce
# not run: B is no extent of an input
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[3*B], %more: i64[N], %off: i64[C], %w: f32[3*B]) -> (f32[B, 4], f32[max(0, C - 1), 4], f32[B, 4]) {
    %0 = const {value = i64[] 0}
    %1 = dims {values = [3*B], scalar}
    %2 = const {value = i64[] 3}
    %3 = range %0, %1, %2 : i64[B]
    %4 = bag @t, %ids, %3, %w {operands = [5], pool = [sum], negative = error}
    %5 = slice %off {starts = [0], sizes = [max(0, C - 1)]}
    %6 = slice %off {starts = [min(C, 1)], sizes = [max(0, C - 1)]}
    %7 = bag @t, %more, %5, %6 {operands = [3], pool = [mean], offsets = slice}
    %8 = bag @t, %more, %3 {operands = [1], pool = [sum]}
    ret %4, %7, %8
  }
}
# expect:
module @m {
  symbol ids_0 {multiple = 3, origin = "dim 0 of input 'ids'"}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[ids_0], %more: i64[N], %off: i64[C], %w: f32[ids_0]) -> (f32[exact(ids_0 / 3), 4], f32[C - 1, 4], f32[exact(ids_0 / 3), 4]) {
    %0 = const {value = 0} : i64[]
    %1 = dims {values = [ids_0], scalar} : i64[]
    %2 = const {value = 3} : i64[]
    %3 = range %0, %1, %2 : i64[exact(ids_0 / 3)]
    %4 = reshape %ids {to = [exact(ids_0 / 3), 3]} : i64[exact(ids_0 / 3), 3]
    %5 = reshape %w {to = [exact(ids_0 / 3), 3]} : f32[exact(ids_0 / 3), 3]
    %6 = bag @t, %4, %5 {operands = [4], pool = [sum], negative = error} : f32[exact(ids_0 / 3), 4]
    guard le(1, C) "the offsets must hold the last bag's end"
    %7 = bag @t, %more, %off {operands = [1], pool = [mean], last = [offset], offsets = slice} : f32[C - 1, 4]
    %8 = bag @t, %more, %3 {operands = [1], pool = [sum]} : f32[exact(ids_0 / 3), 4]
    ret %6, %7, %8
  }
}
# ---- bag_shards ----
# bag_shards: shards of a table are one table in parts; sums side by side, shards in any order and of unlike sizes; not: other offsets, maxima, ids of two rows.
# run: bag_shards,fold,cse,dce
# within: 1e-6 the parts of a mean are added, or divided as one
module @m {
  weight @a0 : f32[8, 4] = splat(1)
  weight @a1 : f32[8, 4] = splat(2)
  weight @b0 : f32[5, 2] = splat(3)
  weight @b1 : f32[4, 2] = splat(4)
  weight @b2 : f32[1, 2] = splat(5)
  graph @main(%shard: i64[N], %row: i64[N], %off: i64[B], %off2: i64[B]) -> (f32[B, 8], f32[B, 2], f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0 = const {value = i64[] 0}
    %1 = const {value = i64[] 1}
    %2 = const {value = i64[] 2}
    %3 = const {value = i64[] -1}
    %4 = eq %shard, %0
    %5 = eq %shard, %1
    %6 = eq %shard, %2
    %7 = where %4, %row, %3
    %8 = where %5, %row, %3
    %9 = where %6, %row, %3
    %10 = bag @a0, %7, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %11 = bag @a1, %8, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %12 = bag @a1, %7, %off {operands = [1], pool = [mean], negative = skip, range = first, offsets = clamp}
    %13 = bag @a0, %8, %off {operands = [1], pool = [mean], negative = skip, range = first, offsets = clamp}
    %14 = concat %10, %12 {axis = 1}
    %15 = concat %11, %13 {axis = 1}
    %16 = add %15, %14
    %17 = bag @b0, %7, %off {operands = [1], pool = [sum], negative = skip, range = error}
    %18 = bag @b1, %8, %off {operands = [1], pool = [sum], negative = skip, range = error}
    %19 = bag @b2, %9, %off {operands = [1], pool = [sum], negative = skip, range = error}
    %20 = add %19, %17
    %21 = add %18, %20
    %22 = bag @a0, %7, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %23 = bag @a1, %8, %off2 {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %24 = add %22, %23
    %25 = bag @a0, %7, %off {operands = [1], pool = [max], negative = skip, range = first, offsets = clamp}
    %26 = bag @a1, %8, %off {operands = [1], pool = [max], negative = skip, range = first, offsets = clamp}
    %27 = add %25, %26
    %28 = bag @a0, %7, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %29 = bag @a1, %7, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp}
    %30 = add %28, %29
    ret %16, %21, %24, %27, %30
  }
}
# expect:
module @m {
  weight @a0 : f32[8, 4] = splat(1)
  weight @a1 : f32[8, 4] = splat(2)
  weight @b0 : f32[5, 2] = splat(3)
  weight @b1 : f32[4, 2] = splat(4)
  weight @b2 : f32[1, 2] = splat(5)
  graph @main(%shard: i64[N], %row: i64[N], %off: i64[B], %off2: i64[B]) -> (f32[B, 8], f32[B, 2], f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = -1} : i64[]
    %3 = eq %shard, %0 : bool[N]
    %4 = eq %shard, %1 : bool[N]
    %5 = where %3, %row, %2 : i64[N]
    %6 = where %4, %row, %2 : i64[N]
    %7 = const {value = 40} : i64[]
    %8 = shl %shard, %7 : i64[N]
    %9 = const {value = 1099511627775} : i64[]
    %10 = const {value = 1099511627775} : u64[]
    %11 = cast %row {to = u64} : u64[N]
    %12 = lt %11, %10 : bool[N]
    %13 = where %12, %row, %9 : i64[N]
    %14 = add %13, %8 : i64[N]
    %15 = const {value = 2} : u64[]
    %16 = cast %shard {to = u64} : u64[N]
    %17 = lt %16, %15 : bool[N]
    %18 = ne %row, %2 : bool[N]
    %19 = and %18, %17 : bool[N]
    %20 = where %19, %14, %2 : i64[N]
    %21 = bag @a0, @a1, %20, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[B, 4]
    %22 = bag @a1, @a0, %20, %off {operands = [1], pool = [mean], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[B, 4]
    %23 = concat %21, %22 {axis = 1} : f32[B, 8]
    %24 = const {value = 3} : u64[]
    %25 = lt %16, %24 : bool[N]
    %26 = and %18, %25 : bool[N]
    %27 = where %26, %14, %2 : i64[N]
    %28 = bag @b0, @b1, @b2, %27, %off {operands = [1], pool = [sum], negative = skip, tables = [3]} : f32[B, 2]
    %29 = bag @a0, %5, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %30 = bag @a1, %6, %off2 {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %31 = add %29, %30 : f32[B, 4]
    %32 = bag @a0, %5, %off {operands = [1], pool = [max], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %33 = bag @a1, %6, %off {operands = [1], pool = [max], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %34 = add %32, %33 : f32[B, 4]
    %35 = bag @a1, %5, %off {operands = [1], pool = [sum], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %36 = add %29, %35 : f32[B, 4]
    ret %23, %28, %31, %34, %36
  }
}
# ---- bag_whole ----
# bag_whole: bags over parts and over permuted segments read the caller's list; mixed with what is no sum they stay.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L], %w: f32[N], %at: i64[1]) -> (f32[exact(L / 2), 4], f32[exact(L / 2), 4], f32[exact(L / 2), 4]) {
    %0 = reshape %lengths {to = [2, exact(L / 2)]}
    %1 = reduce %0 {op = sum, axes = [1]}
    %2 = slice %1 {starts = [0], sizes = [1]}
    %3 = slice %1 {starts = [1], sizes = [1]}
    %4 = add %2, %3
    bind %2 {symbols = [n]}
    bind %4 {symbols = [n2]}
    bind %at {symbols = [k]}
    %5 = slice %ids {starts = [min(N, n)], sizes = [max(0, min(N, n2) - min(N, n))]}
    %6 = slice %w {starts = [min(N, n)], sizes = [max(0, min(N, n2) - min(N, n))]}
    %7 = slice %lengths {starts = [exact(L / 2)], sizes = [exact(L / 2)]}
    %8 = cumsum %7 {axis = 0, complete, rising}
    %9 = bag @t, %5, %8, %6 {operands = [5], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    %10 = const {value = i64[2] [1, 0]}
    %11 = gather %0, %10 {axis = 0}
    %12 = cumsum %lengths {axis = 0, exclusive}
    %13 = reshape %12 {to = [2, exact(L / 2)]}
    %14 = gather %13, %10 {axis = 0}
    %15 = reshape %14 {to = [L]}
    %16 = reshape %11 {to = [L]}
    %17 = cumsum %16 {axis = 0, complete}
    %18 = slice %17 {starts = [L], sizes = [1]}
    %19 = reshape %18 {to = []}
    %20 = const {value = i64[] 0}
    %21 = const {value = i64[] 1}
    %22 = range %20, %19, %21 : i64[m]
    %23 = slice %17 {starts = [1], sizes = [L]}
    %24 = bucketize %22, %23 {right} : i64[m]
    %25 = slice %17 {starts = [0], sizes = [L]}
    %26 = sub %15, %25
    %27 = gather %26, %24 {axis = 0}
    %28 = add %22, %27
    %29 = gather %ids, %28 {axis = 0}
    %30 = cumsum %16 {axis = 0, complete, rising}
    %31 = slice %30 {starts = [exact(L / 2)], sizes = [exact(L / 2)], steps = [1]}
    %32 = bag @t, %29, %31 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    %33 = slice %ids {starts = [min(N, k)], sizes = [max(0, min(N, n2) - min(N, k))]}
    %34 = bag @t, %33, %8 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    ret %9, %32, %34
  }
}
# expect:
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L], %w: f32[N], %at: i64[1]) -> (f32[exact(L / 2), 4], f32[exact(L / 2), 4], f32[exact(L / 2), 4]) {
    %0 = reshape %lengths {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %1 = reduce %0 {op = sum, axes = [1]} : i64[2]
    %2 = slice %1 {starts = [0], sizes = [1]} : i64[1]
    %3 = slice %1 {starts = [1], sizes = [1]} : i64[1]
    %4 = add %2, %3 : i64[1]
    bind %4 {symbols = [n2]}
    bind %at {symbols = [k]}
    %5 = slice %lengths {starts = [exact(L / 2)], sizes = [exact(L / 2)]} : i64[exact(L / 2)]
    %6 = cumsum %5 {axis = 0, complete, rising} : i64[exact(L / 2) + 1]
    %7 = cumsum %lengths {axis = 0, complete, rising} : i64[L + 1]
    %8 = slice %7 {starts = [exact(L / 2)], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %9 = bag @t, %ids, %8, %w {operands = [5], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    %10 = slice %7 {starts = [0], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %11 = bag @t, %ids, %10 {operands = [1], pool = [mean], last = [offset], offsets = clamp} : f32[exact(L / 2), 4]
    %12 = slice %ids {starts = [min(N, k)], sizes = [max(0, -min(N, k) + min(N, n2))]} : i64[max(0, -min(N, k) + min(N, n2))]
    %13 = bag @t, %12, %6 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    ret %9, %11, %13
  }
}
# ---- bag_whole_order ----
# bag_whole: rows of dealt ids that are put back in order are looked up where the ids stand; in another order they are not.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[7, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B], %other: i64[N]) -> (f32[N, 4], f32[N, 4]) {
    %0 = const {value = i64[] 0}
    %1 = const {value = i64[] 1}
    %2 = const {value = i64[] 8}
    %3 = dims {values = [N], scalar}
    %4 = dims {values = [B], scalar}
    %5 = cumsum %lengths {axis = 0, complete}
    %6 = slice %5 {starts = [1], sizes = [B]}
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right}
    %9 = div %ids, %2
    %10 = mul %9, %2
    %11 = sub %ids, %10
    %12 = mul %9, %4
    %13 = add %12, %8
    %14 = reshape %13 {to = [N, 1]}
    %15 = expand %0 {to = [2*B]}
    %16 = expand %1 {to = [N]}
    %17 = scatter_nd %15, %14, %16 {reduce = add}
    %18, %19 = sort %13 {axis = 0}
    %20 = gather %11, %19 {axis = 0}
    %21 = reshape %17 {to = [2, B]}
    %22 = reduce %21 {op = sum, axes = [1]}
    %23 = slice %22 {starts = [0], sizes = [1]}
    bind %23 {symbols = [n]}
    %24 = slice %17 {starts = [0], sizes = [B]}
    %25 = cumsum %24 {axis = 0, complete, rising}
    %26 = slice %20 {starts = [0], sizes = [min(N, n)]}
    %27 = bag @low, %26, %25 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp}
    %28 = slice %17 {starts = [B], sizes = [B]}
    %29 = cumsum %28 {axis = 0, complete, rising}
    %30 = slice %20 {starts = [min(N, n)], sizes = [N - min(N, n)]}
    %31 = bag @high, %30, %29 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp}
    %32 = concat %27, %31 {axis = 0}
    %33, %34 = sort %19 {axis = 0}
    %35 = gather %32, %34 {axis = 0}
    %36, %37 = sort %other {axis = 0}
    %38 = gather %32, %37 {axis = 0}
    ret %35, %38
  }
}
# expect:
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[7, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B], %other: i64[N]) -> (f32[N, 4], f32[N, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 8} : i64[]
    %3 = dims {values = [N], scalar} : i64[]
    %4 = dims {values = [B], scalar} : i64[]
    %5 = cumsum %lengths {axis = 0, complete} : i64[B + 1]
    %6 = slice %5 {starts = [1], sizes = [B]} : i64[B]
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right} : i64[N]
    %9 = div %ids, %2 : i64[N]
    %10 = mul %9, %2 : i64[N]
    %11 = sub %ids, %10 : i64[N]
    %12 = mul %9, %4 : i64[N]
    %13 = add %12, %8 : i64[N]
    %14 = reshape %13 {to = [N, 1]} : i64[N, 1]
    %15 = expand %0 {to = [2*B]} : i64[2*B]
    %16 = expand %1 {to = [N]} : i64[N]
    %17 = scatter_nd %15, %14, %16 {reduce = add} : i64[2*B]
    %18, %19 = sort %13 {axis = 0} : i64[N], i64[N]
    %20 = gather %11, %19 {axis = 0} : i64[N]
    %21 = reshape %17 {to = [2, B]} : i64[2, B]
    %22 = reduce %21 {op = sum, axes = [1]} : i64[2]
    %23 = slice %22 {starts = [0], sizes = [1]} : i64[1]
    bind %23 {symbols = [n]}
    %24 = slice %17 {starts = [0], sizes = [B]} : i64[B]
    %25 = cumsum %24 {axis = 0, complete, rising} : i64[B + 1]
    %26 = slice %20 {starts = [0], sizes = [min(N, n)]} : i64[min(N, n)]
    %27 = bag @low, %26, %25 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp} : f32[min(N, n), 4]
    %28 = slice %17 {starts = [B], sizes = [B]} : i64[B]
    %29 = cumsum %28 {axis = 0, complete, rising} : i64[B + 1]
    %30 = slice %20 {starts = [min(N, n)], sizes = [max(0, N - n)]} : i64[max(0, N - n)]
    %31 = bag @high, %30, %29 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp} : f32[max(0, N - n), 4]
    %32 = concat %27, %31 {axis = 0} : f32[N, 4]
    %33 = cumsum %lengths {axis = 0, complete, rising} : i64[B + 1]
    %34 = const {value = -1} : i64[]
    %35 = const {value = 40} : i64[]
    %36 = shl %9, %35 : i64[N]
    %37 = const {value = 1099511627775} : i64[]
    %38 = cast %37 {to = u64} : u64[]
    %39 = cast %11 {to = u64} : u64[N]
    %40 = lt %39, %38 : bool[N]
    %41 = where %40, %11, %37 : i64[N]
    %42 = add %41, %36 : i64[N]
    %43 = const {value = 2} : i64[]
    %44 = cast %43 {to = u64} : u64[]
    %45 = cast %9 {to = u64} : u64[N]
    %46 = lt %45, %44 : bool[N]
    %47 = ne %11, %34 : bool[N]
    %48 = and %47, %46 : bool[N]
    %49 = where %48, %42, %34 : i64[N]
    %50 = bag @low, @high, %49, %33 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[N, 4]
    %51, %52 = sort %other {axis = 0} : i64[N], i64[N]
    %53 = gather %32, %52 {axis = 0} : f32[N, 4]
    ret %50, %53
  }
}
# ---- bag_whole_rest ----
# bag_whole: a last bag to the end of the ids holds those of the bags behind it too: it stays.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L]) -> (f32[exact(L / 2), 4]) {
    %0 = const {value = i64[2] [1, 0]}
    %1 = reshape %lengths {to = [2, exact(L / 2)]}
    %2 = gather %1, %0 {axis = 0}
    %3 = cumsum %lengths {axis = 0, exclusive}
    %4 = reshape %3 {to = [2, exact(L / 2)]}
    %5 = gather %4, %0 {axis = 0}
    %6 = reshape %5 {to = [L]}
    %7 = reshape %2 {to = [L]}
    %8 = cumsum %7 {axis = 0, complete}
    %9 = slice %8 {starts = [L], sizes = [1]}
    %10 = reshape %9 {to = []}
    %11 = const {value = i64[] 0}
    %12 = const {value = i64[] 1}
    %13 = range %11, %10, %12 : i64[m]
    %14 = slice %8 {starts = [1], sizes = [L]}
    %15 = bucketize %13, %14 {right} : i64[m]
    %16 = slice %8 {starts = [0], sizes = [L]}
    %17 = sub %6, %16
    %18 = gather %17, %15 {axis = 0}
    %19 = add %13, %18
    %20 = gather %ids, %19 {axis = 0}
    %21 = cumsum %7 {axis = 0, complete, rising}
    %22 = slice %21 {starts = [0], sizes = [exact(L / 2)], steps = [1]}
    %23 = bag @t, %20, %22 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    ret %23
  }
}
# expect:
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L]) -> (f32[exact(L / 2), 4]) {
    %0 = const {value = [1, 0]} : i64[2]
    %1 = reshape %lengths {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %2 = gather %1, %0 {axis = 0} : i64[2, exact(L / 2)]
    %3 = cumsum %lengths {axis = 0, exclusive} : i64[L]
    %4 = reshape %3 {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %5 = gather %4, %0 {axis = 0} : i64[2, exact(L / 2)]
    %6 = reshape %5 {to = [L]} : i64[L]
    %7 = reshape %2 {to = [L]} : i64[L]
    %8 = cumsum %7 {axis = 0, complete} : i64[L + 1]
    %9 = slice %8 {starts = [L], sizes = [1]} : i64[1]
    %10 = reshape %9 {to = []} : i64[]
    %11 = const {value = 0} : i64[]
    %12 = const {value = 1} : i64[]
    %13 = range %11, %10, %12 : i64[m]
    %14 = slice %8 {starts = [1], sizes = [L]} : i64[L]
    %15 = bucketize %13, %14 {right} : i64[m]
    %16 = slice %8 {starts = [0], sizes = [L]} : i64[L]
    %17 = sub %6, %16 : i64[L]
    %18 = gather %17, %15 {axis = 0} : i64[m]
    %19 = add %13, %18 : i64[m]
    %20 = gather %ids, %19 {axis = 0} : i64[m]
    %21 = cumsum %7 {axis = 0, complete, rising} : i64[L + 1]
    %22 = slice %21 {starts = [0], sizes = [exact(L / 2)], steps = [1]} : i64[exact(L / 2)]
    %23 = bag @t, %20, %22 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    ret %23
  }
}
# ---- bag_whole_rows ----
# bag_whole: shards by rows read the caller's ids and skip those of others; their means stay theirs, and a warning says so.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[8, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B]) -> (f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0 = const {value = i64[] 0}
    %1 = const {value = i64[] 1}
    %2 = const {value = i64[] 8}
    %3 = dims {values = [N], scalar}
    %4 = dims {values = [B], scalar}
    %5 = cumsum %lengths {axis = 0, complete}
    %6 = slice %5 {starts = [1], sizes = [B]}
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right}
    %9 = div %ids, %2
    %10 = mul %9, %2
    %11 = sub %ids, %10
    %12 = mul %9, %4
    %13 = add %12, %8
    %14 = reshape %13 {to = [N, 1]}
    %15 = expand %0 {to = [2*B]}
    %16 = expand %1 {to = [N]}
    %17 = scatter_nd %15, %14, %16 {reduce = add}
    %18, %19 = sort %13 {axis = 0}
    %20 = gather %11, %19 {axis = 0}
    %21 = cumsum %17 {axis = 0, complete, rising}
    %22 = slice %21 {starts = [0], sizes = [B + 1]}
    %23 = slice %21 {starts = [B], sizes = [B + 1]}
    %24 = bag @low, %20, %22 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp}
    %25 = bag @high, %20, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp}
    %26 = add %24, %25
    %27 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp, whole}
    %28 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp}
    ret %26, %27, %28
  }
}
# expect:
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[8, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B]) -> (f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 8} : i64[]
    %3 = dims {values = [N], scalar} : i64[]
    %4 = dims {values = [B], scalar} : i64[]
    %5 = cumsum %lengths {axis = 0, complete} : i64[B + 1]
    %6 = slice %5 {starts = [1], sizes = [B]} : i64[B]
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right} : i64[N]
    %9 = div %ids, %2 : i64[N]
    %10 = mul %9, %2 : i64[N]
    %11 = sub %ids, %10 : i64[N]
    %12 = mul %9, %4 : i64[N]
    %13 = add %12, %8 : i64[N]
    %14 = reshape %13 {to = [N, 1]} : i64[N, 1]
    %15 = expand %0 {to = [2*B]} : i64[2*B]
    %16 = expand %1 {to = [N]} : i64[N]
    %17 = scatter_nd %15, %14, %16 {reduce = add} : i64[2*B]
    %18, %19 = sort %13 {axis = 0} : i64[N], i64[N]
    %20 = gather %11, %19 {axis = 0} : i64[N]
    %21 = cumsum %17 {axis = 0, complete, rising} : i64[2*B + 1]
    %22 = slice %21 {starts = [0], sizes = [B + 1]} : i64[B + 1]
    %23 = cumsum %lengths {axis = 0, complete, rising} : i64[B + 1]
    %24 = const {value = -1} : i64[]
    %25 = eq %9, %0 : bool[N]
    %26 = where %25, %11, %24 : i64[N]
    %27 = bag @low, %26, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %28 = eq %9, %1 : bool[N]
    %29 = where %28, %11, %24 : i64[N]
    %30 = bag @high, %29, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %31 = add %27, %30 : f32[B, 4]
    %32 = bag @low, %26, %23 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %33 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    ret %31, %32, %33
  }
}
# ---- bounds ----
# A check of bounds goes into the bag of its tables; a sum that gives offsets does not fall.
# run: bounds,dce
# not run: B is no extent of an input
module @m {
  table @a : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  table @b : i8<rowwise f16>[2, 2] = inline(0x003c00000102003c00000102)
  graph @main(%ids: i64[N], %lengths: i64[2*B]) -> (f32[B, 2], f32[B, 2]) {
    %rows = const {value = i64[2] [4, 2]}
    %off = cumsum %lengths {axis = 0, complete = true} : i64[2*B + 1]
    %i, %o, %n = bounds %ids, %off, %rows {range = first} : i64[N], i64[2*B + 1], i64[1]
    %o0 = slice %o {starts = [0], sizes = [B + 1], steps = [1]} : i64[B + 1]
    %o1 = slice %o {starts = [B], sizes = [B + 1], steps = [1]} : i64[B + 1]
    %0, %1 = bag @a, %i, %o0, @b, %i, %o1 {operands = [1, 1], pool = [sum, sum], last = [offset, offset], negative = skip} : f32[B, 2], f32[B, 2]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol lengths_0 {multiple = 2, origin = "dim 0 of input 'lengths'"}
  table @a : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  table @b : i8<rowwise f16>[2, 2] = inline(0x003c00000102003c00000102)
  graph @main(%ids: i64[N], %lengths: i64[lengths_0]) -> (f32[exact(lengths_0 / 2), 2], f32[exact(lengths_0 / 2), 2]) {
    %0 = cumsum %lengths {axis = 0, complete, rising} : i64[lengths_0 + 1]
    %1 = slice %0 {starts = [0], sizes = [exact(lengths_0 / 2) + 1], steps = [1]} : i64[exact(lengths_0 / 2) + 1]
    %2 = slice %0 {starts = [exact(lengths_0 / 2)], sizes = [exact(lengths_0 / 2)]} : i64[exact(lengths_0 / 2)]
    %3, %4 = bag @a, %ids, %1, @b, %ids, %2 {operands = [1, 1], pool = [sum, sum], last = [offset, ids], negative = skip, range = first, offsets = clamp} : f32[exact(lengths_0 / 2), 2], f32[exact(lengths_0 / 2), 2]
    ret %3, %4
  }
}
# ---- jagged_insert ----
# jagged_insert: what was written is read back; a part behind it is read where it was; one that may overlap stays.
# run: jagged_insert,dce
# not run: n is no extent of an input
module @m {
  symbol L {multiple = 3}
  graph @main(%ids: i64[N], %lengths: i64[L], %a: i64[min(N, n)], %any: i64[2]) -> (i64[min(N, n)], i64[max(0, min(N, n3) - min(N, n2))], i64[2]) {
    %0 = reshape %lengths {to = [3, exact(L / 3)]}
    %1 = reduce %0 {op = sum, axes = [1]}
    %2 = slice %1 {starts = [0], sizes = [1]}
    %3 = slice %1 {starts = [1], sizes = [1]}
    %4 = slice %1 {starts = [2], sizes = [1]}
    %5 = add %2, %3
    %6 = add %5, %4
    bind %2 {symbols = [n]}
    bind %5 {symbols = [n2]}
    bind %6 {symbols = [n3]}
    %7 = insert %ids, %a {starts = [0]} : i64[N]
    %8 = slice %7 {starts = [0], sizes = [min(N, n)]}
    %9 = slice %7 {starts = [min(N, n2)], sizes = [max(0, min(N, n3) - min(N, n2))]}
    %10 = slice %7 {starts = [1], sizes = [2]}
    ret %8, %9, %10
  }
}
# expect:
module @m {
  symbol L {multiple = 3}
  graph @main(%ids: i64[N], %lengths: i64[L], %a: i64[min(N, n)], %any: i64[2]) -> (i64[min(N, n)], i64[max(0, -min(N, n2) + min(N, n3))], i64[2]) {
    %0 = reshape %lengths {to = [3, exact(L / 3)]} : i64[3, exact(L / 3)]
    %1 = reduce %0 {op = sum, axes = [1]} : i64[3]
    %2 = slice %1 {starts = [0], sizes = [1]} : i64[1]
    %3 = slice %1 {starts = [1], sizes = [1]} : i64[1]
    %4 = slice %1 {starts = [2], sizes = [1]} : i64[1]
    %5 = add %2, %3 : i64[1]
    %6 = add %5, %4 : i64[1]
    bind %5 {symbols = [n2]}
    bind %6 {symbols = [n3]}
    %7 = insert %ids, %a {starts = [0]} : i64[N]
    %8 = slice %ids {starts = [min(N, n2)], sizes = [max(0, -min(N, n2) + min(N, n3))]} : i64[max(0, -min(N, n2) + min(N, n3))]
    %9 = slice %7 {starts = [1], sizes = [2]} : i64[2]
    ret %a, %8, %9
  }
}
