# decompose: sums of bytes in f32 are whole and stay floats; those that may be too large, or
# are of other floats, are made integers between.
# run: decompose,dce
# target: cpu:v4
module @m {
  graph @main(%x: u8[A, 4, 5, 5], %zx: u8[], %w: i8[4, 1, 3, 3], %f: f32[A, 4, 5, 5], %g: f32[4, 1, 3, 3], %y: u8[A, 2, 17, 17], %v: i8[2, 1, 17, 17]) -> (f32[A, 4, 5, 5], i32[A, 4, 5, 5], f32[A, 4, 3, 3], f32[A, 2, 1, 1]) {
    %0 = conv_integer %x, %w, %zx {before = [1, 1], after = [1, 1], group = 4} : i32[A, 4, 5, 5]
    %1 = cast %0 {to = f32} : f32[A, 4, 5, 5]
    %2 = conv %f, %g {group = 4} : f32[A, 4, 3, 3]
    %3 = cast %2 {to = i32} : i32[A, 4, 3, 3]
    %4 = cast %3 {to = f32} : f32[A, 4, 3, 3]
    %5 = conv_integer %y, %v {group = 2} : i32[A, 2, 1, 1]
    %6 = cast %5 {to = f32} : f32[A, 2, 1, 1]
    ret %1, %0, %4, %6
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[A, 4, 5, 5],
      %zx: u8[],
      %w: i8[4, 1, 3, 3],
      %f: f32[A, 4, 5, 5],
      %g: f32[4, 1, 3, 3],
      %y: u8[A, 2, 17, 17],
      %v: i8[2, 1, 17, 17]) -> (f32[A, 4, 5, 5], i32[A, 4, 5, 5], f32[A, 4, 3, 3], f32[A, 2, 1, 1]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %zx : f32[A, 4, 5, 5]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 1, 3, 3]
    %4 = pad %1 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[A, 4, 7, 7]
    %5 = conv %4, %3 {group = 4} : f32[A, 4, 5, 5]
    %6 = cast %5 {to = i32} : i32[A, 4, 5, 5]
    %7 = conv %f, %g {group = 4} : f32[A, 4, 3, 3]
    %8 = cast %7 {to = i32} : i32[A, 4, 3, 3]
    %9 = cast %8 {to = f32} : f32[A, 4, 3, 3]
    %10 = cast %y {to = f64} : f64[A, 2, 17, 17]
    %11 = cast %v {to = f64} : f64[2, 1, 17, 17]
    %12 = conv %10, %11 {group = 2} : f64[A, 2, 1, 1]
    %13 = cast %12 {to = i32} : i32[A, 2, 1, 1]
    %14 = cast %13 {to = f32} : f32[A, 2, 1, 1]
    ret %5, %6, %9, %14
  }
}
