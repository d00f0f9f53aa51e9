# What a symbol that an op defined turns out to be is said everywhere.
# run: fold,canonicalise,dce
module @m {
  graph @main(%x: f32[4, 6], %y: f32[B, 6]) -> (i64[1], f32[T], f32[B, U]) {
    %0 = const {value = [3]} : i64[1]
    %1 = const {value = [8]} : i64[1]
    %2 = mul %0, %1
    %3 = reshape %x, %2 : f32[T]
    %4 = relu %3 : f32[T]
    %5 = dims {values = [2*T]}
    guard le(T, 24) "small"
    %6 = shape %y
    %7 = const {value = [0]} : i64[1]
    %8 = gather %6, %7 {axis = 0}
    %9 = const {value = [-1]} : i64[1]
    %10 = concat %8, %9 {axis = 0}
    %11 = reshape %y, %10 : f32[B, U]
    ret %5, %4, %11
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 6], %y: f32[B, 6]) -> (i64[1], f32[24], f32[B, 6]) {
    %0 = reshape %x {to = [24]} : f32[24]
    %1 = relu %0 : f32[24]
    %2 = dims {values = [48]} : i64[1]
    guard le(24, 24) "small"
    ret %2, %1, %y
  }
}
