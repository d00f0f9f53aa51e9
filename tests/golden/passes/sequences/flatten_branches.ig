# flatten_sequences: branches and loops hand on elements and extents.
# run: flatten_sequences,dce
# target: cpu:v3
module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B], %y: f32[3]) -> (i64[]) {
    %0 = if %c : seq<f32[k]> {
      %1 = seq_make %x, %y : seq<f32[k3]>
      yield %1
    } else {
      %2 = seq_make %y : seq<f32[3]>
      yield %2
    }
    %3 = loop %n, %c, %0 : seq<f32[k2]> (%i: i64[], %g: bool[], %l: seq<f32[k4]>) {
      %4 = seq_insert %l, %x : seq<f32[k4]>
      yield %g, %4
    }
    %5 = seq_length %3 : i64[]
    ret %5
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B], %y: f32[3]) -> (i64[] "output_0") {
    %0, %1 = if %c : f32[elements], i64[items, 1] {
      %2 = dims {values = [B]} : i64[1]
      %3 = reshape %2 {to = [1, 1]} : i64[1, 1]
      %4 = dims {values = [3]} : i64[1]
      %5 = reshape %4 {to = [1, 1]} : i64[1, 1]
      %6 = concat %x, %y {axis = 0} : f32[B + 3]
      %7 = concat %3, %5 {axis = 0} : i64[2, 1]
      yield %6, %7
    } else {
      %8 = dims {values = [3]} : i64[1]
      %9 = reshape %8 {to = [1, 1]} : i64[1, 1]
      yield %y, %9
    }
    %10, %11 = loop %n, %c, %0, %1 : f32[elements2], i64[items2, 1] (%i: i64[], %g: bool[], %l: f32[elements3], %12: i64[items3, 1]) {
      %13 = dims {values = [B]} : i64[1]
      %14 = reshape %13 {to = [1, 1]} : i64[1, 1]
      %15 = slice %l {starts = [elements3], sizes = [0]} : f32[0]
      %16 = concat %l, %x, %15 {axis = 0} : f32[B + elements3]
      %17 = slice %12 {starts = [items3, 0], sizes = [0, 1]} : i64[0, 1]
      %18 = concat %12, %14, %17 {axis = 0} : i64[items3 + 1, 1]
      yield %g, %16, %18
    }
    %19 = dims {values = [items2], scalar} : i64[]
    ret %19
  }
}
