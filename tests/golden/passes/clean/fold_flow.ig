# ---- changing ----
# fold_flow: a loop of constants whose results have an extent that changes from trip to trip stays.
# run: fold_flow,dce
module @m {
  graph @main(%x: f32[2]) -> (f32[M], i64[1]) {
    %0 = const {value = bool[] true} : bool[]
    %1 = const {value = i64[] 2} : i64[]
    %2 = const {value = f32[2] [1.0, 2.0]} : f32[2]
    %3 = loop %1, %0, %2 : f32[M] (%i: i64[], %k: bool[], %y: f32[M]) {
      %4 = concat %y, %y {axis = 0} : f32[2*M]
      yield %0, %4
    }
    %5 = dims {values = [M]}
    ret %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[2]) -> (f32[M], i64[1]) {
    %0 = const {value = true} : bool[]
    %1 = const {value = 2} : i64[]
    %2 = const {value = [1, 2]} : f32[2]
    %3 = loop %1, %0, %2 : f32[M] (%i: i64[], %k: bool[], %y: f32[M]) {
      %4 = concat %y, %y {axis = 0} : f32[2*M]
      yield %0, %4
    }
    %5 = dims {values = [M]} : i64[1]
    ret %3, %5
  }
}
# ---- kept_symbol ----
# fold_flow: an op that defines a symbol stays while a guard mentions the symbol.
# run: fold_flow,dce
module @m {
  weight @w : f16[1, 1] = splat(1)
  graph @main(%x: f32[B]) -> (i64[nonzero, 2], f32[B]) {
    %0 = nonzero @w : i64[nonzero, 2]
    guard eq(2, bcast(nonzero, 2)) "the shapes broadcast"
    %1 = const {value = 2} : i64[]
    %2 = const {value = true} : bool[]
    %3 = loop %1, %2, %0 : i64[nonzero, 2] (%i: i64[], %k: bool[], %c: i64[nonzero, 2]) {
      %4 = add %c, %c : i64[nonzero, 2]
      yield %k, %4
    }
    ret %3, %x
  }
}
# expect:
module @m {
  weight @w : f16[1, 1] = splat(1)
  graph @main(%x: f32[B]) -> (i64[1, 2], f32[B]) {
    %0 = nonzero @w : i64[nonzero, 2]
    guard eq(2, bcast(nonzero, 2)) "the shapes broadcast"
    %1 = const {value = [0, 0]} : i64[1, 2]
    ret %1, %x
  }
}
# ---- known_before ----
# fold_flow: an extent that is learnt is learnt by a loop that carries it, too.
# values: n below 3
# run: fold_flow,dce
module @m {
  graph @main(%n: i64[], %x: f32[2]) -> (i64[R], i64[1]) {
    %0 = const {value = bool[] true} : bool[]
    %1 = const {value = i64[] 1} : i64[]
    %2 = const {value = f32[3] [1.0, 0.0, 2.0]} : f32[3]
    %3 = loop %1, %0 {scans = 1} : i64[1, R, 1] (%i: i64[], %k: bool[]) {
      %4 = nonzero %2 : i64[nonzero, 1]
      yield %0, %4
    }
    %5 = reshape %3 {to = [R]} : i64[R]
    %6 = dims {values = [R]}
    %7 = loop %n, %0, %5 : i64[R] (%i2: i64[], %k2: bool[], %y: i64[R]) {
      %8 = add %y, %y : i64[R]
      yield %0, %8
    }
    ret %7, %6
  }
}
# expect:
module @m {
  graph @main(%n: i64[], %x: f32[2]) -> (i64[2], i64[1]) {
    %0 = const {value = true} : bool[]
    %1 = const {value = [0, 2]} : i64[1, 2, 1]
    %2 = reshape %1 {to = [2]} : i64[2]
    %3 = dims {values = [2]} : i64[1]
    %4 = loop %n, %0, %2 : i64[2] (%i2: i64[], %k2: bool[], %y: i64[2]) {
      %5 = add %y, %y : i64[2]
      yield %0, %5
    }
    ret %4, %3
  }
}
# ---- loop ----
# fold_flow: a loop of constants, and rows that a loop collects; a loop that reads an input
# stays.
# run: fold_flow,dce
module @m {
  graph @main(%x: f32[2]) -> (f32[3, 2], f32[n], f32[2]) {
    %w = const {value = [1, 2]} : f32[2]
    %three = const {value = 3} : i64[]
    %true = const {value = true} : bool[]
    %0 = loop %three, %true {scans = 1} : f32[3, 2] (%i: i64[], %c: bool[]) {
      %1 = cast %i {to = f32} : f32[]
      %2 = add %w, %1 : f32[2]
      yield %c, %2
    }
    %none = seq_empty {of = f32} : seq<f32[1]>
    %3 = loop %three, %true, %none : seq<f32[1]> (%j: i64[], %d: bool[], %s: seq<f32[1]>) {
      %4 = cast %j {to = f32} : f32[]
      %5 = reshape %4 {to = [1]} : f32[1]
      %6 = seq_insert %s, %5 : seq<f32[1]>
      yield %d, %6
    }
    %7 = seq_concat %3 {axis = 0} : f32[n]
    %8 = loop %three, %true, %x : f32[2] (%k: i64[], %e: bool[], %y: f32[2]) {
      %9 = add %y, %w : f32[2]
      yield %e, %9
    }
    ret %0, %7, %8
  }
}
# expect:
module @m {
  graph @main(%x: f32[2]) -> (f32[3, 2], f32[3], f32[2]) {
    %0 = const {value = [1, 2]} : f32[2]
    %1 = const {value = 3} : i64[]
    %2 = const {value = true} : bool[]
    %3 = const {value = [1, 2, 2, 3, 3, 4]} : f32[3, 2]
    %4 = const {value = [0, 1, 2]} : f32[3]
    %5 = loop %1, %2, %x : f32[2] (%k: i64[], %e: bool[], %y: f32[2]) {
      %6 = add %y, %0 : f32[2]
      yield %e, %6
    }
    ret %3, %4, %5
  }
}
# ---- run_number ----
# fold_flow: the number of the run is another one in each run.
# run: fold_flow,dce
module @m {
  graph @main() -> (f32[4]) {
    %0 = run_number : i64[]
    %1 = random %0 {dtype = f32, shape = [4], kind = uniform, number = 3} : f32[4]
    ret %1
  }
}
# expect:
module @m {
  graph @main() -> (f32[4]) {
    %0 = run_number : i64[]
    %1 = random %0 {dtype = f32, shape = [4], kind = uniform, number = 3} : f32[4]
    ret %1
  }
}
