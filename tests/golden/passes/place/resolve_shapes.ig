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
