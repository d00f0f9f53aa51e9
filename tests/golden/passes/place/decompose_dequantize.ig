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
# ---- decompose_odd_bits ----
# decompose_odd_bits: numbers of few bits in blocks that no vector divides become floats; others stay.
# run: decompose
# values: x plain
# values: y plain
# values: s plain
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 12], %w: u8[5, 6], %s: f32[5, 2], %y: f32[B, 16], %v: u8[5, 8]) -> (f32[B, 5], f32[B, 5]) {
    %0 = matmul_bits %x, %w, %s {bits = 4} : f32[B, 5]
    %1 = matmul_bits %y, %v, %s {bits = 4} : f32[B, 5]
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(
      %x: f32[B, 12],
      %w: u8[5, 6],
      %s: f32[5, 2],
      %y: f32[B, 16],
      %v: u8[5, 8]) -> (f32[B, 5], f32[B, 5]) {
    %0 = const {value = 8} : f32[]
    %1 = reshape %w {to = [5, 2, 3]} : u8[5, 2, 3]
    %2 = reshape %s {to = [5, 2, 1]} : f32[5, 2, 1]
    %3 = const {value = 15} : u8[]
    %4 = and %1, %3 : u8[5, 2, 3]
    %5 = cast %4 {to = f32} : f32[5, 2, 3]
    %6 = sub %5, %0 : f32[5, 2, 3]
    %7 = mul %6, %2 : f32[5, 2, 3]
    %8 = reshape %7 {to = [5, 6]} : f32[5, 6]
    %9 = slice %x {starts = [0, 0], sizes = [B, 6], steps = [1, 2]} : f32[B, 6]
    %10 = const {value = 4} : u8[]
    %11 = shr %1, %10 : u8[5, 2, 3]
    %12 = const {value = 15} : u8[]
    %13 = and %11, %12 : u8[5, 2, 3]
    %14 = cast %13 {to = f32} : f32[5, 2, 3]
    %15 = sub %14, %0 : f32[5, 2, 3]
    %16 = mul %15, %2 : f32[5, 2, 3]
    %17 = reshape %16 {to = [5, 6]} : f32[5, 6]
    %18 = slice %x {starts = [0, 1], sizes = [B, 6], steps = [1, 2]} : f32[B, 6]
    %19 = concat %9, %18 {axis = 1} : f32[B, 12]
    %20 = concat %8, %17 {axis = 1} : f32[5, 12]
    %21 = matmul %19, %20 {transpose_b} : f32[B, 5]
    %22 = matmul_bits %y, %v, %s {bits = 4} : f32[B, 5]
    ret %21, %22
  }
}
