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
