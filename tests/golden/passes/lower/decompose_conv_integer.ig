# decompose: sums of few bytes are whole numbers of f32, those of many of f64.
# run: decompose,dce
# target: cpu:v3
module @m {
  graph @main(%x: u8[N, 3, 8, 8], %w: i8[4, 3, 1, 1], %y: i8[N, 300, 8, 8], %v: i8[4, 300, 1, 1], %z: u8[]) -> (i32[N, 4, 8, 8], i32[N, 4, 8, 8]) {
    %0 = conv_integer %x, %w, %z : i32[N, 4, 8, 8]
    %1 = conv_integer %y, %v {group = 1} : i32[N, 4, 8, 8]
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[N, 3, 8, 8],
      %w: i8[4, 3, 1, 1],
      %y: i8[N, 300, 8, 8],
      %v: i8[4, 300, 1, 1],
      %z: u8[]) -> (i32[N, 4, 8, 8], i32[N, 4, 8, 8]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %z : f32[N, 3, 8, 8]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 3, 1, 1]
    %4 = conv %1, %3 : f32[N, 4, 8, 8]
    %5 = cast %4 {to = i32} : i32[N, 4, 8, 8]
    %6 = cast %y {to = f64} : f64[N, 300, 8, 8]
    %7 = cast %v {to = f64} : f64[4, 300, 1, 1]
    %8 = conv %6, %7 {group = 1} : f64[N, 4, 8, 8]
    %9 = cast %8 {to = i32} : i32[N, 4, 8, 8]
    ret %5, %9
  }
}
