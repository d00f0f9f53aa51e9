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
    %1 = mul %0, %s : f32[A, 5]
    %2 = sub %y, %z : i32[A, 5]
    %3 = cast %2 {to = f32} : f32[A, 5]
    %4 = mul %3, %s : f32[A, 5]
    %5 = cast %x {to = f32} : f32[A, 5]
    %6 = cast %h {to = f32} : f32[]
    %7 = mul %5, %6 : f32[A, 5]
    %8 = cast %7 {to = f16} : f16[A, 5]
    %9 = cast %x {to = f32} : f32[A, 5]
    %10 = reshape %b {to = [A, 3, 1]} : f32[A, 3, 1]
    %11 = expand %10 {to = [A, 3, 2]} : f32[A, 3, 2]
    %12 = reshape %11 {to = [A, 6]} : f32[A, 6]
    %13 = slice %12 {starts = [0, 0], sizes = [A, 5]} : f32[A, 5]
    %14 = mul %9, %13 : f32[A, 5]
    ret %1, %4, %8, %14
  }
}
