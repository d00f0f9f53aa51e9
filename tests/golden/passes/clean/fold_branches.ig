# fold: works in bodies.
# run: fold,dce
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (i64[1]) {
    %0 = if %c : i64[1] {
      %1 = shape %x
      %2 = add %1, %1
      yield %2
    } else {
      %3 = const {value = [1]} : i64[1]
      %4 = neg %3
      yield %4
    }
    ret %0
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (i64[1]) {
    %0 = if %c : i64[1] {
      %1 = dims {values = [2*B]} : i64[1]
      yield %1
    } else {
      %2 = const {value = [-1]} : i64[1]
      yield %2
    }
    ret %0
  }
}
