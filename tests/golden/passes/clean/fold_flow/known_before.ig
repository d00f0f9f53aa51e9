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
