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
