# flatten_sequences: an extent that has a value already is compared with it.
# run: flatten_sequences,dce
# target: cpu:v3
# not run: lists come and go as two tensors
module @m {
  graph @main(%s: seq<f32[k]>, %x: f32[B], %p: i64[]) -> (f32[B], f32[n], f32[n]) {
    %0 = seq_at %s, %p : f32[B]
    %1 = seq_at %s, %p : f32[n]
    %2 = seq_at %s, %p : f32[n]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  symbol n2 {origin = "a number that a sequence holds"}
  symbol n3 {origin = "a number that a sequence holds"}
  symbol n4 {origin = "a number that a sequence holds"}
  symbol n5 {origin = "a number that a sequence holds"}
  symbol n6 {origin = "a number that a sequence holds"}
  symbol n7 {origin = "a number that a sequence holds"}
  symbol n8 {origin = "a number that a sequence holds"}
  symbol n9 {origin = "a number that a sequence holds"}
  graph @main(%s: f32[elements], %s.extents: i64[items, 1], %x: f32[B], %p: i64[]) -> (f32[B] "output_0", f32[n] "output_1", f32[n] "output_2") {
    %0 = reshape %p {to = [1]} : i64[1]
    %1 = reshape %0 {to = []} : i64[]
    %2 = const {value = 0} : i64[]
    %3 = lt %1, %2 : bool[]
    %4 = dims {values = [items], scalar} : i64[]
    %5 = add %1, %4 : i64[]
    %6 = where %3, %5, %1 : i64[]
    %7 = reshape %6 {to = [1]} : i64[1]
    bind %7 {symbols = [n2]}
    guard le(n2, items - 1) "a position is outside of its sequence"
    %8 = reduce %s.extents {op = prod, axes = [1]} : i64[items]
    %9 = slice %8 {starts = [0], sizes = [n2]} : i64[n2]
    %10 = reduce %9 {axes = [0]} : i64[]
    %11 = reshape %10 {to = [1]} : i64[1]
    bind %11 {symbols = [n3]}
    %12 = slice %s.extents {starts = [n2, 0], sizes = [1, 1]} : i64[1, 1]
    %13 = reshape %12 {to = [1]} : i64[1]
    bind %13 {symbols = [n4]}
    guard eq(n4, B) "an item of a sequence has other extents"
    %14 = slice %s {starts = [n3], sizes = [B]} : f32[B]
    %15 = reshape %p {to = [1]} : i64[1]
    %16 = reshape %15 {to = []} : i64[]
    %17 = const {value = 0} : i64[]
    %18 = lt %16, %17 : bool[]
    %19 = dims {values = [items], scalar} : i64[]
    %20 = add %16, %19 : i64[]
    %21 = where %18, %20, %16 : i64[]
    %22 = reshape %21 {to = [1]} : i64[1]
    bind %22 {symbols = [n5]}
    guard le(n5, items - 1) "a position is outside of its sequence"
    %23 = reduce %s.extents {op = prod, axes = [1]} : i64[items]
    %24 = slice %23 {starts = [0], sizes = [n5]} : i64[n5]
    %25 = reduce %24 {axes = [0]} : i64[]
    %26 = reshape %25 {to = [1]} : i64[1]
    bind %26 {symbols = [n6]}
    %27 = slice %s.extents {starts = [n5, 0], sizes = [1, 1]} : i64[1, 1]
    %28 = reshape %27 {to = [1]} : i64[1]
    bind %28 {symbols = [n]}
    %29 = slice %s {starts = [n6], sizes = [n]} : f32[n]
    %30 = reshape %p {to = [1]} : i64[1]
    %31 = reshape %30 {to = []} : i64[]
    %32 = const {value = 0} : i64[]
    %33 = lt %31, %32 : bool[]
    %34 = dims {values = [items], scalar} : i64[]
    %35 = add %31, %34 : i64[]
    %36 = where %33, %35, %31 : i64[]
    %37 = reshape %36 {to = [1]} : i64[1]
    bind %37 {symbols = [n7]}
    guard le(n7, items - 1) "a position is outside of its sequence"
    %38 = reduce %s.extents {op = prod, axes = [1]} : i64[items]
    %39 = slice %38 {starts = [0], sizes = [n7]} : i64[n7]
    %40 = reduce %39 {axes = [0]} : i64[]
    %41 = reshape %40 {to = [1]} : i64[1]
    bind %41 {symbols = [n8]}
    %42 = slice %s.extents {starts = [n7, 0], sizes = [1, 1]} : i64[1, 1]
    %43 = reshape %42 {to = [1]} : i64[1]
    bind %43 {symbols = [n9]}
    guard eq(n9, n) "an item of a sequence has other extents"
    %44 = slice %s {starts = [n8], sizes = [n]} : f32[n]
    ret %14, %29, %44
  }
}
