# flatten_sequences: a tensor of any rank is its elements and one row of its extents.
# run: flatten_sequences,infer,guards,canonicalise,fold,cse,dce
# target: cpu:v3
# not run: tensors of any rank come and go as two
module @m {
  graph @main(%x: f32[B, 3], %y: f32[2], %i: i64[], %c: bool[]) -> (f32[*], f32[*]) {
    %0 = seq_make %x, %y : seq<f32[*]>
    %1 = seq_at %0, %i : f32[*]
    %2 = if %c : f32[*] {
      yield %x
    } else {
      yield %1
    }
    ret %1, %2
  }
}
# expect:
module @m {
  symbol n {origin = "a number that a sequence holds"}
  symbol n2 {origin = "a number that a sequence holds"}
  symbol n3 {origin = "a number that a sequence holds"}
  graph @main(%x: f32[B, 3], %y: f32[2], %i: i64[], %c: bool[]) -> (f32[n3] "output_0", i64[1, 33] "output_0.extents", f32[elements] "output_1", i64[1, 33] "output_1.extents") {
    %0 = reshape %x {to = [3*B]} : f32[3*B]
    %1 = dims {values = [B, 3]} : i64[2]
    %2 = reshape %1 {to = [1, 2]} : i64[1, 2]
    %3 = const {value = 2} : i64[]
    %4 = const {value = [2]} : i64[1, 1]
    %5 = const {value = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]} : i64[1, 30]
    %6 = concat %4, %2, %5 {axis = 1} : i64[1, 33]
    %7 = const {value = [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]} : i64[1, 33]
    %8 = concat %0, %y {axis = 0} : f32[3*B + 2]
    %9 = concat %6, %7 {axis = 0} : i64[2, 33]
    %10 = const {value = 0} : i64[]
    %11 = lt %i, %10 : bool[]
    %12 = add %i, %3 : i64[]
    %13 = where %11, %12, %i : i64[]
    %14 = reshape %13 {to = [1]} : i64[1]
    bind %14 {symbols = [n]}
    guard le(n, 1) "a position is outside of its sequence"
    %15 = slice %9 {starts = [0, 1], sizes = [2, 32]} : i64[2, 32]
    %16 = reduce %15 {op = prod, axes = [1]} : i64[2]
    %17 = slice %16 {starts = [0], sizes = [n]} : i64[n]
    %18 = reduce %17 {axes = [0]} : i64[]
    %19 = reshape %18 {to = [1]} : i64[1]
    bind %19 {symbols = [n2]}
    %20 = slice %16 {starts = [n], sizes = [1]} : i64[1]
    bind %20 {symbols = [n3]}
    %21 = slice %8 {starts = [n2], sizes = [n3]} : f32[n3]
    %22 = slice %9 {starts = [n, 0], sizes = [1, 33]} : i64[1, 33]
    %23, %24 = if %c : f32[elements], i64[1, 33] {
      yield %0, %6
    } else {
      yield %21, %22
    }
    ret %21, %22, %23, %24
  }
}
