# flatten_sequences: an optional is a sequence of one item or none.
# run: flatten_sequences,dce
# target: cpu:v3
# not run: lists come and go as two tensors
module @m {
  graph @main(%x: opt<f32[k]>, %p: i64[]) -> (opt<f32[k]> "x", i64[], f32[n]) {
    %0 = seq_length %x : i64[]
    %1 = seq_at %x, %p : f32[n]
    ret %x, %0, %1
  }
}
# expect:
module @m {
  symbol n2 {origin = "a number that a sequence holds"}
  symbol n3 {origin = "a number that a sequence holds"}
  graph @main(%x: f32[elements], %x.extents: i64[items, 1], %p: i64[]) -> (f32[elements] "x", i64[items, 1] "x.extents", i64[], f32[n]) {
    %0 = dims {values = [items], scalar} : i64[]
    %1 = reshape %p {to = [1]} : i64[1]
    %2 = reshape %1 {to = []} : i64[]
    %3 = const {value = 0} : i64[]
    %4 = lt %2, %3 : bool[]
    %5 = dims {values = [items], scalar} : i64[]
    %6 = add %2, %5 : i64[]
    %7 = where %4, %6, %2 : i64[]
    %8 = reshape %7 {to = [1]} : i64[1]
    bind %8 {symbols = [n2]}
    guard le(n2, items - 1) "a position is outside of its sequence"
    %9 = reduce %x.extents {op = prod, axes = [1]} : i64[items]
    %10 = slice %9 {starts = [0], sizes = [n2]} : i64[n2]
    %11 = reduce %10 {axes = [0]} : i64[]
    %12 = reshape %11 {to = [1]} : i64[1]
    bind %12 {symbols = [n3]}
    %13 = slice %x.extents {starts = [n2, 0], sizes = [1, 1]} : i64[1, 1]
    %14 = reshape %13 {to = [1]} : i64[1]
    bind %14 {symbols = [n]}
    %15 = slice %x {starts = [n3], sizes = [n]} : f32[n]
    ret %x, %x.extents, %0, %15
  }
}
