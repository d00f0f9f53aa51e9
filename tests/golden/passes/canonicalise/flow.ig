# ---- if_on_extent ----
# canonicalise: a branch for one extent goes where the other gives the same; a trap, or another number, keeps it.
# run: canonicalise,dce
module @m {
  graph @main(%x: i64[L], %y: i64[K]) -> (i64[], i64[], i64[]) {
    %n = dims {values = [L], scalar} : i64[]
    %m = dims {values = [3*K], scalar} : i64[]
    %zero = const {value = 0} : i64[]
    %one = const {value = 1} : i64[]
    %c0 = ne %n, %zero : bool[]
    %0, %1 = if %c0 : i64[], i64[] {
      guard eq(L, 2*floor(L / 2)) "x is not in pairs"
      %2 = reshape %x {to = [2, floor(L / 2)]} : i64[2, floor(L / 2)]
      %3 = reduce %2 {op = sum, axes = [1]} : i64[2]
      %4 = slice %3 {starts = [0], sizes = [1]} : i64[1]
      %5 = reshape %4 {to = []} : i64[]
      %6 = slice %3 {starts = [1], sizes = [1]} : i64[1]
      %7 = reshape %6 {to = []} : i64[]
      yield %5, %7
    } else {
      yield %zero, %zero
    }
    %c1 = eq %m, %zero : bool[]
    %8 = if %c1 : i64[] {
      yield %one
    } else {
      %9 = reduce %y {op = sum, axes = [0]} : i64[]
      yield %9
    }
    %10 = add %0, %1 : i64[]
    %11 = if %c1 : i64[] {
      yield %zero
    } else {
      %12 = reduce %y {op = sum, axes = [0]} : i64[]
      yield %12
    }
    ret %10, %8, %11
  }
}
# expect:
module @m {
  graph @main(%x: i64[L], %y: i64[K]) -> (i64[], i64[], i64[]) {
    %0 = dims {values = [3*K], scalar} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = const {value = 1} : i64[]
    guard eq(L, 2*floor(L / 2)) "x is not in pairs"
    %3 = reshape %x {to = [2, floor(L / 2)]} : i64[2, floor(L / 2)]
    %4 = reduce %3 {op = sum, axes = [1]} : i64[2]
    %5 = slice %4 {starts = [0], sizes = [1]} : i64[1]
    %6 = reshape %5 {to = []} : i64[]
    %7 = slice %4 {starts = [1], sizes = [1]} : i64[1]
    %8 = reshape %7 {to = []} : i64[]
    %9 = eq %0, %1 : bool[]
    %10 = if %9 : i64[] {
      yield %2
    } else {
      %11 = reduce %y {op = sum, axes = [0]} : i64[]
      yield %11
    }
    %12 = add %6, %8 : i64[]
    %13 = reduce %y {op = sum, axes = [0]} : i64[]
    ret %12, %10, %13
  }
}
# ---- if_with_equal_results ----
# if_with_equal_results: a result that both branches hand through from outside is that value.
# The guard keeps the if.
# run: canonicalise
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = if %c : f32[B] {
      yield %x
    } else {
      yield %x
    }
    %1 = if %c : f32[B] {
      guard le(1, B) "not empty"
      yield %y
    } else {
      yield %y
    }
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = if %c : f32[B] {
      guard le(1, B) "not empty"
      yield %y
    } else {
      yield %y
    }
    ret %x, %y
  }
}
# ---- if_with_known_condition ----
# if_with_known_condition: of an if whose condition is known one branch is left.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[4]) -> (f32[B], f32[B], f32[4]) {
    %0 = const {value = true} : bool[]
    %1, %2 = if %0 : f32[B], f32[B] {
      %3 = relu %x
      guard le(1, B) "not empty"
      yield %3, %x
    } else {
      guard eq(B, 7) "never runs"
      %4 = neg %x
      yield %4, %4
    }
    %5 = const {value = false} : bool[]
    %6 = if %5 : f32[4] {
      %7 = abs %y
      yield %7
    } else {
      yield %y
    }
    ret %1, %2, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[4]) -> (f32[B], f32[B], f32[4]) {
    %0 = relu %x : f32[B]
    guard le(1, B) "not empty"
    ret %0, %x, %y
  }
}
