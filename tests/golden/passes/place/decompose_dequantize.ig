# dequantise: small integers are widened to f32, those of 32 bits less their zero point
# first; blocks are spread along their axis.
# decompose_dequantize: the rule of this pass.
# run: dequantise,dce
# target: cpu:v3
module @m {
  graph @main(%x: i8[A, 5], %y: i32[A, 5], %s: f32[5], %h: f16[], %z: i32[], %b: f32[A, 3]) -> (f32[A, 5], f32[A, 5], f16[A, 5], f32[A, 5]) {
    %0 = dequantize %x, %s {axis = 1} : f32[A, 5]
    %1 = dequantize %y, %s, %z {axis = 1} : f32[A, 5]
    %2 = dequantize %x, %h : f16[A, 5]
    %3 = dequantize %x, %b {axis = 1, block = 2} : f32[A, 5]
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  graph @main(
      %x: i8[A, 5],
      %y: i32[A, 5],
      %s: f32[5],
      %h: f16[],
      %z: i32[],
      %b: f32[A, 3]) -> (f32[A, 5], f32[A, 5], f16[A, 5], f32[A, 5]) {
    %0 = cast %x {to = f32} : f32[A, 5]
    %1 = reshape %s {to = [1, 5]} : f32[1, 5]
    %2 = mul %0, %1 : f32[A, 5]
    %3 = sub %y, %z : i32[A, 5]
    %4 = cast %3 {to = f32} : f32[A, 5]
    %5 = reshape %s {to = [1, 5]} : f32[1, 5]
    %6 = mul %4, %5 : f32[A, 5]
    %7 = cast %x {to = f32} : f32[A, 5]
    %8 = cast %h {to = f32} : f32[]
    %9 = mul %7, %8 : f32[A, 5]
    %10 = cast %9 {to = f16} : f16[A, 5]
    %11 = cast %x {to = f32} : f32[A, 5]
    %12 = reshape %b {to = [A, 3, 1]} : f32[A, 3, 1]
    %13 = expand %12 {to = [A, 3, 2]} : f32[A, 3, 2]
    %14 = reshape %13 {to = [A, 6]} : f32[A, 6]
    %15 = slice %14 {starts = [0, 0], sizes = [A, 5]} : f32[A, 5]
    %16 = mul %11, %15 : f32[A, 5]
    ret %2, %6, %10, %16
  }
}
