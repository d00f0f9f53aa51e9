# fold: ops on constants are evaluated; what cannot be is left for the run to report.
# run: fold,dce
# not run: one id is always out of range
module @m {
  weight @w : f32[2] = [-1.5, -7]
  graph @main(%x: f32[2]) -> (f32[2], f32[2, 2], i64[], f32[2], bool[2]) {
    %0 = const {value = [1, 2]} : f32[2]
    %1 = const {value = [3, 4]} : f32[2]
    %2 = add %0, %1
    %3 = reshape %2 {to = [2, 1]}
    %4 = mul %3, %0
    %5 = const {value = [7, 8]} : i64[2]
    %6 = const {value = 9} : i64[]
    %7 = gather %5, %6 {axis = 0}
    %8 = neg @w
    %9 = lt %0, %8
    %10 = add %x, %2
    ret %8, %4, %7, %10, %9
  }
}
# expect:
module @m {
  weight @w : f32[2] = [-1.5, -7]
  graph @main(%x: f32[2]) -> (f32[2], f32[2, 2], i64[], f32[2], bool[2]) {
    %0 = const {value = [4, 6]} : f32[2]
    %1 = const {value = [4, 8, 6, 12]} : f32[2, 2]
    %2 = const {value = [7, 8]} : i64[2]
    %3 = const {value = 9} : i64[]
    %4 = gather %2, %3 {axis = 0} : i64[]
    %5 = const {value = [1.5, 7]} : f32[2]
    %6 = const {value = [true, true]} : bool[2]
    %7 = add %x, %0 : f32[2]
    ret %5, %1, %4, %7, %6
  }
}
