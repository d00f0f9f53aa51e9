# recognise_integer: convolutions of dequantised bytes, with scales and zero points of
# outputs; scales of input channels, computed scales, and weights that are no constant stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  weight @w : i8[4, 3, 3, 3] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @s : f32[4] = splat(0.5)
  weight @r : f32[3, 1, 1] = splat(0.25)
  weight @b : f32[4] = splat(2)
  graph @main(%x: u8[B, 3, H, 8], %y: i8[B, 3, L]) -> (f32[B, 4, H, 8], f32[B, 3, L - 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = dequantize %x, %0, %1 : f32[B, 3, H, 8]
    %3 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %4 = conv %2, %3, @b {before = [1, 1], after = [1, 1]} : f32[B, 4, H, 8]
    %5 = const {value = [128, 120, 110]} : u8[3, 1, 1]
    %6 = dequantize %y, %0 : f32[B, 3, L]
    %7 = dequantize @d, @r, %5 : f32[3, 1, 3]
    %8 = conv %6, %7 {group = 3} : f32[B, 3, L - 2]
    ret %4, %8
  }
  graph @stays(%x: u8[B, 3, 8, 8], %c: f32[], %v: i8[4, 3, 3, 3]) -> (f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 3, 10, 10]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 3, 8, 8]
    %2 = const {value = [0.25, 0.5, 1.0]} : f32[3]
    %3 = dequantize @w, %2 {axis = 1} : f32[4, 3, 3, 3]
    %4 = conv %1, %3 : f32[B, 4, 6, 6]
    %5 = dequantize %x, %c : f32[B, 3, 8, 8]
    %6 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %7 = conv %5, %6 : f32[B, 4, 6, 6]
    %8 = dequantize %v, %0 : f32[4, 3, 3, 3]
    %9 = conv %1, %8 : f32[B, 4, 6, 6]
    %10 = dequantize @w, %0 : f32[4, 3, 3, 3]
    %11 = pad %1 {before = [0, 0, 0, 0], after = [0, 1, 0, 0]} : f32[B, 4, 8, 8]
    %12 = quantize %11, %0 {to = u8} : u8[B, 4, 8, 8]
    %13 = dequantize %12, %0 : f32[B, 4, 8, 8]
    %14 = conv %13, %10 {transposed} : f32[B, 3, 10, 10]
    ret %4, %7, %9, %14
  }
}
# expect:
module @m {
  weight @w : i8[4, 3, 3, 3] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @s : f32[4] = splat(0.5)
  weight @r : f32[3, 1, 1] = splat(0.25)
  weight @b : f32[4] = splat(2)
  graph @main(%x: u8[B, 3, H, 8], %y: i8[B, 3, L]) -> (f32[B, 4, H, 8], f32[B, 3, L - 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = conv_integer %x, @w, %1 {before = [1, 1], after = [1, 1]} : i32[B, 4, H, 8]
    %3 = mul %0, @s : f32[4]
    %4 = dequantize %2, %3 {axis = 1} : f32[B, 4, H, 8]
    %5 = reshape @b {to = [1, 4, 1, 1]} : f32[1, 4, 1, 1]
    %6 = add %4, %5 : f32[B, 4, H, 8]
    %7 = const {value = [128, 120, 110]} : u8[3, 1, 1]
    %8 = const {value = 0} : i8[]
    %9 = reshape %7 {to = [3]} : u8[3]
    %10 = reshape %9 {to = [3, 1, 1]} : u8[3, 1, 1]
    %11 = conv_integer %y, @d, %8, %10 {group = 3} : i32[B, 3, L - 2]
    %12 = reshape @r {to = [3]} : f32[3]
    %13 = mul %0, %12 : f32[3]
    %14 = dequantize %11, %13 {axis = 1} : f32[B, 3, L - 2]
    ret %6, %14
  }
  graph @stays(%x: u8[B, 3, 8, 8], %c: f32[], %v: i8[4, 3, 3, 3]) -> (f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 3, 10, 10]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 3, 8, 8]
    %2 = const {value = [0.25, 0.5, 1]} : f32[3]
    %3 = dequantize @w, %2 {axis = 1} : f32[4, 3, 3, 3]
    %4 = conv %1, %3 : f32[B, 4, 6, 6]
    %5 = dequantize %x, %c : f32[B, 3, 8, 8]
    %6 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %7 = conv %5, %6 : f32[B, 4, 6, 6]
    %8 = dequantize %v, %0 : f32[4, 3, 3, 3]
    %9 = conv %1, %8 : f32[B, 4, 6, 6]
    %10 = dequantize @w, %0 : f32[4, 3, 3, 3]
    %11 = pad %1 {before = [0, 0, 0, 0], after = [0, 1, 0, 0]} : f32[B, 4, 8, 8]
    %12 = quantize %11, %0 {to = u8} : u8[B, 4, 8, 8]
    %13 = dequantize %12, %0 : f32[B, 4, 8, 8]
    %14 = conv %13, %10 {transposed} : f32[B, 3, 10, 10]
    ret %4, %7, %9, %14
  }
}
