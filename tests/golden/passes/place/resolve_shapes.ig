# ---- resolve_shapes ----
# resolve_shapes: repeats and axes that the model computes become symbols that are bound.
# run: resolve_shapes
# then: fuse,bufferise,lower
module @m {
  graph @main(%x: f32[A, 3], %r: i64[2], %axes: i64[1]) -> (f32[n, n2] "o", f32[n3] "p") {
    %0 = tile %x, %r : f32[n, n2]
    %1 = reduce %x, %axes {op = sum} : f32[n3]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol n2 {origin = "an extent that the model computes"}
  symbol n3 {origin = "an extent that the model computes"}
  symbol repeat {origin = "a number that the model computes"}
  symbol repeat2 {origin = "a number that the model computes"}
  symbol kept {origin = "a number that the model computes"}
  symbol reduced {origin = "a number that the model computes"}
  symbol kept2 {origin = "a number that the model computes"}
  symbol reduced2 {origin = "a number that the model computes"}
  graph @main(%x: f32[A, 3], %r: i64[2], %axes: i64[1]) -> (f32[n, n2] "o", f32[n3] "p") {
    %0 = dims {values = [A, 3]} : i64[2]
    %1 = measure %0, %r {function = "tile_bounds", params = [2]} : i64[4]
    bind %1 {symbols = [repeat, repeat2, n, n2]}
    %2 = reshape %x {to = [1, A, 1, 3]} : f32[1, A, 1, 3]
    %3 = expand %2 {to = [repeat, A, repeat2, 3]} : f32[repeat, A, repeat2, 3]
    %4 = reshape %3 {to = [n, n2]} : f32[n, n2]
    %5 = dims {values = [A, 3]} : i64[2]
    %6 = measure %5, %axes {function = "reduce_bounds", params = [2, 1, 0]} : i64[6]
    bind %6 {symbols = [kept, kept2, reduced, reduced2]}
    %7 = slice %6 {starts = [4], sizes = [1]} : i64[1]
    bind %7 {symbols = [n3]}
    %8 = reshape %x {to = [kept, reduced, kept2, reduced2]} : f32[kept, reduced, kept2, reduced2]
    %9 = reduce %8 {axes = [1, 3]} : f32[kept, kept2]
    %10 = reshape %9 {to = [n3]} : f32[n3]
    ret %4, %10
  }
}
# ---- resolve_shapes_slice ----
# resolve_shapes: a slice by symbols; computed steps gather each axis.
# run: resolve_shapes
# then: fuse,bufferise,lower
module @m {
  graph @main(%x: f32[A, 3], %s: i64[1], %e: i64[1], %axes: i64[1], %steps: i64[1]) -> (f32[n, 3] "o", f32[n2, n3] "p") {
    %0 = slice %x, %s, %e : f32[n, 3]
    %1 = slice %x, %s, %e, %axes, %steps : f32[n2, n3]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol n2 {origin = "an extent that the model computes"}
  symbol n3 {origin = "an extent that the model computes"}
  symbol start {origin = "a number that the model computes"}
  symbol start2 {origin = "a number that the model computes"}
  symbol extent {origin = "a number that the model computes"}
  symbol start3 {origin = "a number that the model computes"}
  symbol start4 {origin = "a number that the model computes"}
  graph @main(
      %x: f32[A, 3],
      %s: i64[1],
      %e: i64[1],
      %axes: i64[1],
      %steps: i64[1]) -> (f32[n, 3] "o", f32[n2, n3] "p") {
    %0 = dims {values = [A, 3]} : i64[2]
    %1 = dims {values = [0]} : i64[1]
    %2 = dims {values = [1]} : i64[1]
    %3 = measure %0, %s, %e, %1, %2 {function = "slice_bounds", params = [2, 1]} : i64[6]
    bind %3 {symbols = [start, start2, n, extent]}
    %4 = slice %x {starts = [start, start2], sizes = [n, 3]} : f32[n, 3]
    %5 = dims {values = [A, 3]} : i64[2]
    %6 = measure %5, %s, %e, %axes, %steps {function = "slice_bounds", params = [2, 1]} : i64[6]
    bind %6 {symbols = [start3, start4, n2, n3]}
    %7 = const {value = 0} : i64[]
    %8 = const {value = 1} : i64[]
    %9 = dims {values = [n2]} : i64[1]
    %10 = reshape %9 {to = []} : i64[]
    %11 = range %7, %10, %8 : i64[n2]
    %12 = slice %6 {starts = [4], sizes = [1]} : i64[1]
    %13 = reshape %12 {to = []} : i64[]
    %14 = mul %11, %13 : i64[n2]
    %15 = slice %6 {starts = [0], sizes = [1]} : i64[1]
    %16 = reshape %15 {to = []} : i64[]
    %17 = add %14, %16 : i64[n2]
    %18 = gather %x, %17 {axis = 0, negative = error} : f32[n2, 3]
    %19 = const {value = 0} : i64[]
    %20 = const {value = 1} : i64[]
    %21 = dims {values = [n3]} : i64[1]
    %22 = reshape %21 {to = []} : i64[]
    %23 = range %19, %22, %20 : i64[n3]
    %24 = slice %6 {starts = [5], sizes = [1]} : i64[1]
    %25 = reshape %24 {to = []} : i64[]
    %26 = mul %23, %25 : i64[n3]
    %27 = slice %6 {starts = [1], sizes = [1]} : i64[1]
    %28 = reshape %27 {to = []} : i64[]
    %29 = add %26, %28 : i64[n3]
    %30 = gather %18, %29 {axis = 1, negative = error} : f32[n2, n3]
    ret %4, %30
  }
}
# ---- rows_of_parts ----
# resolve_shapes: as many rows as a number says, of which a negative one is none.
# run: resolve_shapes,dce
# then: fuse,bufferise,lower
# values: o offsets x
# values: n below 9
module @m {
  graph @main(%x: f32[E - 1, 4, 8], %o: i64[E], %n: i64[]) -> (f32[r, 8]) {
    %0 = padded_to_jagged %x, %o, %n : f32[r, 8]
    ret %0
  }
}
# expect:
module @m {
  symbol r {origin = "an extent that the model computes"}
  graph @main(%x: f32[E - 1, 4, 8], %o: i64[E], %n: i64[]) -> (f32[r, 8]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = measure %0, %n, %1 {function = "range_count"} : i64[1]
    bind %2 {symbols = [r]}
    %3 = padded_to_jagged %x, %o {rows = r} : f32[r, 8]
    ret %3
  }
}
