module @m {
  graph @main(%x: f32[A, 4], %s: f32[4], %z: u8[4], %f: f32[4], %a: u8[A, 4], %b: i8[4, 4], %c: i8[4, 300], %d: i8[300, 4]) -> (u8[A, 4], u8[A, 4], u4[A, 4], u8[A, 4], f8e4m3fn[A, 4], i32[A, 4], i32[4, 4]) {
    %0 = quantize %x, %s, %z {to = u8, axis = 1} : u8[A, 4]
    %1 = quantize %x, %s, %z {to = u8, rounding = multiply, axis = 1} : u8[A, 4]
    %2 = quantize %x, %s, %f {to = u4, rounding = offset, axis = 1} : u4[A, 4]
    %3 = matmul_integer %a, %b, %z : i32[A, 4]
    %4 = quantize %3, %s {to = u8, rounding = factor, axis = 1} : u8[A, 4]
    %5 = quantize %x, %s {to = f8e4m3fn, axis = 1, saturate} : f8e4m3fn[A, 4]
    %6 = matmul_integer %c, %d : i32[4, 4]
    ret %0, %1, %2, %4, %5, %3, %6
  }
}
