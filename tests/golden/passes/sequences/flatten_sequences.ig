# flatten_sequences: inputs and results that are sequences are elements and extents.
# run: flatten_sequences,dce
# then: fuse,bufferise
# target: cpu:v3
# not run: lists come and go as two tensors
module @m {
  graph @main(%s: seq<f32[k, 4]>, %x: f32[B, 4], %p: i64[]) -> (seq<f32[k2, 4]> "t", f32[n, 4] "y") {
    %0 = seq_insert %s, %x : seq<f32[k2, 4]>
    %1 = seq_at %0, %p : f32[n, 4]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol n2 {origin = "a number that a sequence holds"}
  symbol n3 {origin = "a number that a sequence holds"}
  symbol n4 {origin = "a number that a sequence holds"}
  graph @main(%s: f32[elements], %s.extents: i64[items, 2], %x: f32[B, 4], %p: i64[]) -> (f32[4*B + elements] "t", i64[items + 1, 2] "t.extents", f32[n, 4] "y") {
    %0 = reshape %x {to = [4*B]} : f32[4*B]
    %1 = dims {values = [B, 4]} : i64[2]
    %2 = reshape %1 {to = [1, 2]} : i64[1, 2]
    %3 = slice %s {starts = [elements], sizes = [0]} : f32[0]
    %4 = concat %s, %0, %3 {axis = 0} : f32[4*B + elements]
    %5 = slice %s.extents {starts = [items, 0], sizes = [0, 2]} : i64[0, 2]
    %6 = concat %s.extents, %2, %5 {axis = 0} : i64[items + 1, 2]
    %7 = reshape %p {to = [1]} : i64[1]
    %8 = reshape %7 {to = []} : i64[]
    %9 = const {value = 0} : i64[]
    %10 = lt %8, %9 : bool[]
    %11 = dims {values = [items + 1], scalar} : i64[]
    %12 = add %8, %11 : i64[]
    %13 = where %10, %12, %8 : i64[]
    %14 = reshape %13 {to = [1]} : i64[1]
    bind %14 {symbols = [n2]}
    guard le(n2, items) "a position is outside of its sequence"
    %15 = reduce %6 {op = prod, axes = [1]} : i64[items + 1]
    %16 = slice %15 {starts = [0], sizes = [n2]} : i64[n2]
    %17 = reduce %16 {axes = [0]} : i64[]
    %18 = reshape %17 {to = [1]} : i64[1]
    bind %18 {symbols = [n3]}
    %19 = slice %6 {starts = [n2, 0], sizes = [1, 2]} : i64[1, 2]
    %20 = reshape %19 {to = [2]} : i64[2]
    bind %20 {symbols = [n, n4]}
    guard eq(n4, 4) "an item of a sequence has other extents"
    %21 = slice %4 {starts = [n3], sizes = [4*n]} : f32[4*n]
    %22 = reshape %21 {to = [n, 4]} : f32[n, 4]
    ret %4, %6, %22
  }
}
