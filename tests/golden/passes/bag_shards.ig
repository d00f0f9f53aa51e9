# bag_shards: shards of a table are one table in parts; sums side by side, shards in any order and of unlike sizes; not: other offsets, maxima, ids of two rows.
# run: bag_shards,fold,cse,dce
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
    %10 = bag @a0, %7, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
    %11 = bag @a1, %8, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
    %12 = bag @a1, %7, %off {operands = [1], pool = [1], negative = skip, range = first, offsets = clamp}
    %13 = bag @a0, %8, %off {operands = [1], pool = [1], negative = skip, range = first, offsets = clamp}
    %14 = concat %10, %12 {axis = 1}
    %15 = concat %11, %13 {axis = 1}
    %16 = add %15, %14
    %17 = bag @b0, %7, %off {operands = [1], pool = [0], negative = skip, range = error}
    %18 = bag @b1, %8, %off {operands = [1], pool = [0], negative = skip, range = error}
    %19 = bag @b2, %9, %off {operands = [1], pool = [0], negative = skip, range = error}
    %20 = add %19, %17
    %21 = add %18, %20
    %22 = bag @a0, %7, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
    %23 = bag @a1, %8, %off2 {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
    %24 = add %22, %23
    %25 = bag @a0, %7, %off {operands = [1], pool = [2], negative = skip, range = first, offsets = clamp}
    %26 = bag @a1, %8, %off {operands = [1], pool = [2], negative = skip, range = first, offsets = clamp}
    %27 = add %25, %26
    %28 = bag @a0, %7, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
    %29 = bag @a1, %7, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp}
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
    %2 = const {value = 2} : i64[]
    %3 = const {value = -1} : i64[]
    %4 = eq %shard, %0 : bool[N]
    %5 = eq %shard, %1 : bool[N]
    %6 = where %4, %row, %3 : i64[N]
    %7 = where %5, %row, %3 : i64[N]
    %8 = const {value = 8} : i64[]
    %9 = const {value = 8} : u64[]
    %10 = cast %row {to = u64} : u64[N]
    %11 = lt %10, %9 : bool[N]
    %12 = where %11, %row, %0 : i64[N]
    %13 = mul %shard, %8 : i64[N]
    %14 = add %12, %13 : i64[N]
    %15 = const {value = 2} : u64[]
    %16 = cast %shard {to = u64} : u64[N]
    %17 = lt %16, %15 : bool[N]
    %18 = ne %row, %3 : bool[N]
    %19 = and %18, %17 : bool[N]
    %20 = where %19, %14, %3 : i64[N]
    %21 = bag @a0, @a1, %20, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[B, 4]
    %22 = bag @a1, @a0, %20, %off {operands = [1], pool = [1], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[B, 4]
    %23 = concat %21, %22 {axis = 1} : f32[B, 8]
    %24 = const {value = 5} : i64[]
    %25 = const {value = 4} : i64[]
    %26 = where %5, %25, %24 : i64[N]
    %27 = eq %shard, %2 : bool[N]
    %28 = where %27, %1, %26 : i64[N]
    %29 = const {value = 10} : i64[]
    %30 = cast %28 {to = u64} : u64[N]
    %31 = lt %10, %30 : bool[N]
    %32 = where %31, %row, %29 : i64[N]
    %33 = where %5, %24, %0 : i64[N]
    %34 = const {value = 9} : i64[]
    %35 = where %27, %34, %33 : i64[N]
    %36 = add %32, %35 : i64[N]
    %37 = const {value = 3} : u64[]
    %38 = lt %16, %37 : bool[N]
    %39 = and %18, %38 : bool[N]
    %40 = where %39, %36, %3 : i64[N]
    %41 = bag @b0, @b1, @b2, %40, %off {operands = [1], pool = [0], negative = skip, range = error, tables = [3]} : f32[B, 2]
    %42 = bag @a0, %6, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %43 = bag @a1, %7, %off2 {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %44 = add %42, %43 : f32[B, 4]
    %45 = bag @a0, %6, %off {operands = [1], pool = [2], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %46 = bag @a1, %7, %off {operands = [1], pool = [2], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %47 = add %45, %46 : f32[B, 4]
    %48 = bag @a1, %6, %off {operands = [1], pool = [0], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %49 = add %42, %48 : f32[B, 4]
    ret %23, %41, %44, %47, %49
  }
}
