# flatten_sequences: an optional of a sequence is a third tensor, is it there?
# run: flatten_sequences,dce
# target: cpu:v3
# not run: lists come and go as tensors
module @m {
  graph @main(%c: bool[], %n: i64[], %x: opt<seq<f32[k]>>, %y: f32[3]) -> (opt<seq<f32[k]>> "x", opt<seq<f32[k2]>> "z", i64[], opt<f32[3]> "w", i64[]) {
    %0 = if %c : opt<seq<f32[k2]>> {
      %1 = opt_none : opt<seq<f32[k3]>>
      yield %1
    } else {
      %2 = seq_make %y : seq<f32[3]>
      %3 = opt_make %2 : opt<seq<f32[3]>>
      yield %3
    }
    %4 = loop %n, %c, %0 : opt<seq<f32[k2]>> (%i: i64[], %g: bool[], %l: opt<seq<f32[k4]>>) {
      %5 = seq_at %l, %i : seq<f32[k4]>
      %6 = seq_insert %5, %y : seq<f32[k4]>
      %7 = opt_make %6 : opt<seq<f32[k4]>>
      yield %g, %7
    }
    %8 = seq_length %x : i64[]
    %9 = opt_make %y : opt<f32[3]>
    %10 = opt_none : opt<f32[3]>
    %11 = seq_length %10 : i64[]
    ret %x, %4, %8, %9, %11
  }
}
# expect:
module @m {
  symbol n {origin = "a number that a sequence holds"}
  symbol n2 {origin = "a number that a sequence holds"}
  graph @main(
      %c: bool[],
      %n: i64[],
      %x: f32[elements],
      %x.extents: i64[items, 1],
      %x.there: bool[],
      %y: f32[3]) -> (f32[elements] "x", i64[items, 1] "x.extents", bool[] "x.there", f32[elements3] "z", i64[items3, 1] "z.extents", bool[] "z.there", i64[], f32[3] "w", i64[1, 1] "w.extents", i64[]) {
    %0, %1, %2 = if %c : f32[elements2], i64[items2, 1], bool[] {
      %3 = const {value = 0} : f32[]
      %4 = expand %3 {to = [0]} : f32[0]
      %5 = const {value = 0} : i64[]
      %6 = expand %5 {to = [0, 1]} : i64[0, 1]
      %7 = const {value = false} : bool[]
      yield %4, %6, %7
    } else {
      %8 = dims {values = [3]} : i64[1]
      %9 = reshape %8 {to = [1, 1]} : i64[1, 1]
      %10 = const {value = true} : bool[]
      yield %y, %9, %10
    }
    %11, %12, %13 = loop %n, %c, %0, %1, %2 : f32[elements3], i64[items3, 1], bool[] (%i: i64[], %g: bool[], %l: f32[elements4], %14: i64[items4, 1], %15: bool[]) {
      %16 = cast %15 {to = i64} : i64[]
      %17 = reshape %16 {to = [1]} : i64[1]
      bind %17 {symbols = [n]}
      %18 = reshape %i {to = [1]} : i64[1]
      %19 = reshape %18 {to = []} : i64[]
      %20 = const {value = 0} : i64[]
      %21 = lt %19, %20 : bool[]
      %22 = dims {values = [n], scalar} : i64[]
      %23 = add %19, %22 : i64[]
      %24 = where %21, %23, %19 : i64[]
      %25 = reshape %24 {to = [1]} : i64[1]
      bind %25 {symbols = [n2]}
      guard le(n2, n - 1) "a position is outside of its sequence"
      %26 = dims {values = [3]} : i64[1]
      %27 = reshape %26 {to = [1, 1]} : i64[1, 1]
      %28 = slice %l {starts = [elements4], sizes = [0]} : f32[0]
      %29 = concat %l, %y, %28 {axis = 0} : f32[elements4 + 3]
      %30 = slice %14 {starts = [items4, 0], sizes = [0, 1]} : i64[0, 1]
      %31 = concat %14, %27, %30 {axis = 0} : i64[items4 + 1, 1]
      %32 = const {value = true} : bool[]
      yield %g, %29, %31, %32
    }
    %33 = cast %x.there {to = i64} : i64[]
    %34 = dims {values = [3]} : i64[1]
    %35 = reshape %34 {to = [1, 1]} : i64[1, 1]
    %36 = const {value = 0} : i64[]
    ret %x, %x.extents, %x.there, %11, %12, %13, %33, %y, %35, %36
  }
}
