# flatten_sequences: items of any rank have rows of one length.
# run: flatten_sequences,dce
# target: cpu:v3
# not run: lists come and go as tensors
module @m {
  graph @main(%c: bool[], %n: i64[], %s: seq<f32[]>, %x: f32[B], %p: i64[]) -> (seq<f32[*]> "t", seq<f32[*]> "u", i64[]) {
    %0 = loop %n, %c, %s : seq<f32[*]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      %1 = seq_insert %l, %x, %p : seq<f32[*]>
      yield %g, %1
    }
    %2 = if %c : seq<f32[*]> {
      %3 = seq_make %x : seq<f32[k]>
      yield %3
    } else {
      %4 = seq_erase %0, %p : seq<f32[*]>
      yield %4
    }
    %5 = seq_length %2 : i64[]
    ret %0, %2, %5
  }
}
# expect:
module @m {
  symbol n {origin = "a number that a sequence holds"}
  symbol n2 {origin = "a number that a sequence holds"}
  symbol n3 {origin = "a number that a sequence holds"}
  symbol n4 {origin = "a number that a sequence holds"}
  symbol n5 {origin = "a number that a sequence holds"}
  graph @main(
      %c: bool[],
      %n: i64[],
      %s: f32[elements],
      %s.extents: i64[items, 0],
      %x: f32[B],
      %p: i64[]) -> (f32[elements2] "t", i64[items2, 33] "t.extents", f32[elements4] "u", i64[items4, 33] "u.extents", i64[]) {
    %0 = const {value = 0} : i64[]
    %1 = expand %0 {to = [items, 1]} : i64[items, 1]
    %2 = const {value = 1} : i64[]
    %3 = expand %2 {to = [items, 32]} : i64[items, 32]
    %4 = concat %1, %s.extents, %3 {axis = 1} : i64[items, 33]
    %5, %6 = loop %n, %c, %s, %4 : f32[elements2], i64[items2, 33] (%i: i64[], %g: bool[], %l: f32[elements3], %7: i64[items3, 33]) {
      %8 = reshape %p {to = [1]} : i64[1]
      %9 = reshape %8 {to = []} : i64[]
      %10 = const {value = 0} : i64[]
      %11 = lt %9, %10 : bool[]
      %12 = dims {values = [items3], scalar} : i64[]
      %13 = add %9, %12 : i64[]
      %14 = where %11, %13, %9 : i64[]
      %15 = reshape %14 {to = [1]} : i64[1]
      bind %15 {symbols = [n]}
      guard le(n, items3) "a position is outside of its sequence"
      %16 = slice %7 {starts = [0, 1], sizes = [items3, 32]} : i64[items3, 32]
      %17 = reduce %16 {op = prod, axes = [1]} : i64[items3]
      %18 = slice %17 {starts = [0], sizes = [n]} : i64[n]
      %19 = reduce %18 {axes = [0]} : i64[]
      %20 = reshape %19 {to = [1]} : i64[1]
      bind %20 {symbols = [n2]}
      %21 = dims {values = [B]} : i64[1]
      %22 = reshape %21 {to = [1, 1]} : i64[1, 1]
      %23 = const {value = 1} : i64[]
      %24 = expand %23 {to = [1, 1]} : i64[1, 1]
      %25 = const {value = 1} : i64[]
      %26 = expand %25 {to = [1, 31]} : i64[1, 31]
      %27 = concat %24, %22, %26 {axis = 1} : i64[1, 33]
      %28 = slice %l {starts = [0], sizes = [n2]} : f32[n2]
      %29 = slice %l {starts = [n2], sizes = [elements3 - n2]} : f32[elements3 - n2]
      %30 = concat %28, %x, %29 {axis = 0} : f32[B + elements3]
      %31 = slice %7 {starts = [0, 0], sizes = [n, 33]} : i64[n, 33]
      %32 = slice %7 {starts = [n, 0], sizes = [items3 - n, 33]} : i64[items3 - n, 33]
      %33 = concat %31, %27, %32 {axis = 0} : i64[items3 + 1, 33]
      yield %g, %30, %33
    }
    %34, %35 = if %c : f32[elements4], i64[items4, 33] {
      %36 = dims {values = [B]} : i64[1]
      %37 = reshape %36 {to = [1, 1]} : i64[1, 1]
      %38 = const {value = 1} : i64[]
      %39 = expand %38 {to = [1, 1]} : i64[1, 1]
      %40 = const {value = 1} : i64[]
      %41 = expand %40 {to = [1, 31]} : i64[1, 31]
      %42 = concat %39, %37, %41 {axis = 1} : i64[1, 33]
      yield %x, %42
    } else {
      guard le(1, items2) "the sequence is empty"
      %43 = reshape %p {to = [1]} : i64[1]
      %44 = reshape %43 {to = []} : i64[]
      %45 = const {value = 0} : i64[]
      %46 = lt %44, %45 : bool[]
      %47 = dims {values = [items2], scalar} : i64[]
      %48 = add %44, %47 : i64[]
      %49 = where %46, %48, %44 : i64[]
      %50 = reshape %49 {to = [1]} : i64[1]
      bind %50 {symbols = [n3]}
      guard le(n3, items2 - 1) "a position is outside of its sequence"
      %51 = slice %6 {starts = [0, 1], sizes = [items2, 32]} : i64[items2, 32]
      %52 = reduce %51 {op = prod, axes = [1]} : i64[items2]
      %53 = slice %52 {starts = [0], sizes = [n3]} : i64[n3]
      %54 = reduce %53 {axes = [0]} : i64[]
      %55 = reshape %54 {to = [1]} : i64[1]
      %56 = slice %52 {starts = [n3], sizes = [1]} : i64[1]
      %57 = concat %55, %56 {axis = 0} : i64[2]
      bind %57 {symbols = [n4, n5]}
      %58 = slice %5 {starts = [0], sizes = [n4]} : f32[n4]
      %59 = slice %5 {starts = [n4 + n5], sizes = [elements2 - n4 - n5]} : f32[elements2 - n4 - n5]
      %60 = concat %58, %59 {axis = 0} : f32[elements2 - n5]
      %61 = slice %6 {starts = [0, 0], sizes = [n3, 33]} : i64[n3, 33]
      %62 = slice %6 {starts = [n3 + 1, 0], sizes = [items2 - n3 - 1, 33]} : i64[items2 - n3 - 1, 33]
      %63 = concat %61, %62 {axis = 0} : i64[items2 - 1, 33]
      yield %60, %63
    }
    %64 = dims {values = [items4], scalar} : i64[]
    ret %5, %6, %34, %35, %64
  }
}
