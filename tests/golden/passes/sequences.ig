# ---- bufferise_collected ----
# bufferise: the first trip says how long the rows are that a loop collects.
# run: fuse,bufferise
# then: lower
# values: e below 9
# values: n below 5
module @m {
  graph @main(%n: i64[], %c: bool[], %e: i64[1], %x: f32[9], %z: f32[]) -> (f32[], f32[t, k]) {
    %0, %1 = loop %n, %c, %z {scans = 1} : f32[], f32[t, k] (%i: i64[], %g: bool[], %s: f32[]) {
      bind %e {symbols = [m]}
      %2 = slice %x {starts = [0], sizes = [m]} : f32[m]
      %3 = add %2, %s : f32[m]
      yield %g, %s, %3
    }
    ret %0, %1
  }
}
# expect:
module @m {
  symbol trip {origin = "a number of trips or elements of a loop"}
  symbol rows {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %e: i64[1],
      %x: f32[9],
      %z: f32[]) -> (&f32, &f32[t, k]) {
    %0 = alloc : &bool
    compute %c, %0 {family = "copy", outs = 1} (%1: bool[]) {
      yield %1
    }
    %2 = alloc : &f32
    compute %z, %2 {family = "copy", outs = 1} (%3: f32[]) {
      yield %3
    }
    let {symbol = rows, value = 0}
    let {symbol = k, value = 0}
    %4 = alloc : &f32[rows, k]
    %5 = alloc : &i64
    store_dims %5 {values = [0]}
    loop %n, %0 {trip = trip} (%6: i64[], %7: bool[]) {
      %8 = alloc : &i64
      store_dims %8 {values = [trip]}
      bind %e {symbols = [m]}
      %9 = view %x {offset = 0, strides = [1]} : &f32[m]
      %10 = alloc : &f32[m]
      compute %9, %2, %10 {family = "map", outs = 1} (%11: f32[m], %12: f32[]) {
        %13 = add %11, %12 : f32[m]
        yield %13
      }
      let {symbol = rows, value = trip + 1}
      guard eq(k*min(trip, 1), m*min(trip, 1)) "a value that a loop collects changes its extents"
      let {symbol = k, value = m}
      %14 = view %4 {offset = k*trip, strides = [1]} : &f32[k]
      compute %10, %14 {family = "copy", outs = 1} (%15: f32[m]) {
        yield %15
      }
      store_dims %5 {values = [trip + 1]}
      yield %0
    }
    %16 = view %5 {offset = 0, strides = [1]} : &i64[1]
    bind %16 {symbols = [t]}
    %17 = alloc : &f32[t, k]
    %18 = view %4 {offset = 0, strides = [k, 1]} : &f32[t, k]
    compute %18, %17 {family = "copy", outs = 1} (%19: f32[t, k]) {
      yield %19
    }
    ret %2, %17
  }
}
# ---- flatten_any_rank ----
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
# ---- flatten_branches ----
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
# ---- flatten_known ----
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
# ---- flatten_lists_of_lists ----
# flatten_sequences: lists of lists are refused.
# run: flatten_sequences
# target: cpu:v3
module @m {
  graph @main(%x: f32[3]) -> (i64[]) {
    %0 = opt_none : opt<opt<f32[3]>>
    %1 = seq_length %0 : i64[]
    ret %1
  }
}
# expect-error: 6:10: lists of lists cannot be compiled yet
# ---- flatten_optional ----
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
# ---- flatten_optional_sequence ----
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
# ---- flatten_rank ----
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
# ---- flatten_sequences ----
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
# ---- unique_rows ----
# resolve_shapes: rows are sorted by each column, from the last to the first.
# run: resolve_shapes,dce
# then: fuse,bufferise,lower
module @m {
  graph @main(%x: f32[A, 3]) -> (f32[n, 3]) {
    %0, %1, %2, %3 = unique %x {axis = 0} : f32[n, 3], i64[n], i64[A], i64[n]
    ret %0
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  graph @main(%x: f32[A, 3]) -> (f32[n, 3]) {
    %0 = const {value = 3} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = 0} : i64[]
    %3 = const {value = 1} : i64[]
    %4 = dims {values = [A]} : i64[1]
    %5 = reshape %4 {to = []} : i64[]
    %6 = range %2, %5, %3 : i64[A]
    %7 = loop %0, %1, %6 : i64[A] (%8: i64[], %9: bool[], %10: i64[A]) {
      %11 = const {value = -1} : i64[]
      %12 = add %0, %11 : i64[]
      %13 = sub %12, %8 : i64[]
      %14 = gather %x, %13 {axis = 1, negative = error} : f32[A]
      %15 = gather %14, %10 {axis = 0, negative = error} : f32[A]
      %16, %17 = sort %15 {axis = 0} : f32[A], i64[A]
      %18 = gather %10, %17 {axis = 0, negative = error} : i64[A]
      yield %9, %18
    }
    %19 = gather %x, %7 {axis = 0, negative = error} : f32[A, 3]
    %20 = const {value = 0} : i64[]
    %21 = const {value = 1} : i64[]
    %22 = dims {values = [A]} : i64[1]
    %23 = reshape %22 {to = []} : i64[]
    %24 = range %20, %23, %21 : i64[A]
    %25 = const {value = 0} : i64[]
    %26 = const {value = -1} : i64[]
    %27 = add %24, %26 : i64[A]
    %28 = max %27, %25 : i64[A]
    %29 = gather %19, %28 {axis = 0, negative = error} : f32[A, 3]
    %30 = ne %19, %29 : bool[A, 3]
    %31 = isnan %19 : bool[A, 3]
    %32 = gather %31, %28 {axis = 0, negative = error} : bool[A, 3]
    %33 = and %31, %32 : bool[A, 3]
    %34 = not %33 : bool[A, 3]
    %35 = and %30, %34 : bool[A, 3]
    %36 = eq %24, %25 : bool[A]
    %37 = cast %35 {to = i64} : i64[A, 3]
    %38 = reduce %37 {axes = [1]} : i64[A]
    %39 = const {value = 0} : i64[]
    %40 = ne %38, %39 : bool[A]
    %41 = or %40, %36 : bool[A]
    %42 = cast %41 {to = i64} : i64[A]
    %43 = cumsum %42 {axis = 0} : i64[A]
    %44 = cast %41 {to = i64} : i64[A]
    %45 = reduce %44 {keep} : i64[1]
    bind %45 {symbols = [n]}
    %46 = dims {values = [n]} : i64[1]
    %47 = reshape %46 {to = []} : i64[]
    %48 = const {value = -1} : i64[]
    %49 = add %43, %48 : i64[A]
    %50 = where %41, %49, %47 : i64[A]
    %51 = const {value = 0} : i64[]
    %52 = const {value = 1} : i64[]
    %53 = dims {values = [A]} : i64[1]
    %54 = reshape %53 {to = []} : i64[]
    %55 = range %51, %54, %52 : i64[A]
    %56 = const {value = 0} : i64[]
    %57 = expand %56 {to = [n + 1]} : i64[n + 1]
    %58 = scatter_elements %57, %50, %55 {axis = 0, is_checked} : i64[n + 1]
    %59 = slice %58 {starts = [0], sizes = [n]} : i64[n]
    %60 = gather %19, %59 {axis = 0, negative = error} : f32[n, 3]
    ret %60
  }
}
