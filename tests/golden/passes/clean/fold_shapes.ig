# fold: shapes become dim expressions, and numbers where they are known.
# run: fold,dce
module @m {
  graph @main(%x: f32[B, 13], %y: f32[3, 4]) -> (i64[2], i64[1], i64[], f32[2, 6], bool[], i32[1], i64[2]) {
    %0 = shape %x
    %1 = const {value = [2, 1]} : i64[2]
    %2 = mul %0, %1
    %3 = const {value = [1]} : i64[1]
    %4 = gather %0, %3 {axis = 0}
    %5 = size %x
    %6 = const {value = 2} : i64[]
    %7 = size %y
    %8 = div %7, %6
    %9 = reshape %6 {to = [1]}
    %10 = reshape %8 {to = [1]}
    %11 = concat %9, %10 {axis = 0}
    %12 = reshape %y, %11
    %13 = eq %7, %8
    %14 = cast %4 {to = i32}
    %15 = add %2, %0
    ret %2, %4, %5, %12, %13, %14, %15
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 13], %y: f32[3, 4]) -> (i64[2], i64[1], i64[], f32[2, 6], bool[], i32[1], i64[2]) {
    %0 = dims {values = [2*B, 13]} : i64[2]
    %1 = const {value = [13]} : i64[1]
    %2 = dims {values = [13*B], scalar} : i64[]
    %3 = const {value = [2, 6]} : i64[2]
    %4 = reshape %y, %3 : f32[2, 6]
    %5 = const {value = false} : bool[]
    %6 = const {value = [13]} : i32[1]
    %7 = dims {values = [3*B, 26]} : i64[2]
    ret %0, %1, %2, %4, %5, %6, %7
  }
}
