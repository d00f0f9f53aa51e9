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
