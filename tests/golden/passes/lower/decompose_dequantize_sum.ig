# decompose: whole sums of bytes in f32 meet their scale as they are; a zero point is taken
# off as an integer.
# run: decompose,dce
# target: cpu:v4
module @m {
  graph @main(%x: u8[A, 4, 5, 5], %zx: u8[], %w: i8[4, 1, 3, 3], %s: f32[4], %t: f32[], %z: i32[]) -> (f32[A, 4, 5, 5], f32[A, 4, 5, 5]) {
    %0 = conv_integer %x, %w, %zx {before = [1, 1], after = [1, 1], group = 4} : i32[A, 4, 5, 5]
    %1 = dequantize %0, %s {axis = 1} : f32[A, 4, 5, 5]
    %2 = dequantize %0, %t, %z : f32[A, 4, 5, 5]
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[A, 4, 5, 5],
      %zx: u8[],
      %w: i8[4, 1, 3, 3],
      %s: f32[4],
      %t: f32[],
      %z: i32[]) -> (f32[A, 4, 5, 5], f32[A, 4, 5, 5]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %zx : f32[A, 4, 5, 5]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 1, 3, 3]
    %4 = pad %1 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[A, 4, 7, 7]
    %5 = conv %4, %3 {group = 4} : f32[A, 4, 5, 5]
    %6 = cast %5 {to = i32} : i32[A, 4, 5, 5]
    %7 = reshape %s {to = [1, 4, 1, 1]} : f32[1, 4, 1, 1]
    %8 = mul %5, %7 : f32[A, 4, 5, 5]
    %9 = sub %6, %z : i32[A, 4, 5, 5]
    %10 = cast %9 {to = f32} : f32[A, 4, 5, 5]
    %11 = mul %10, %t : f32[A, 4, 5, 5]
    ret %8, %11
  }
}
