# decompose: each way to round, zero points along an axis, sums of products with and without
# room in f32.
# run: decompose,dce
# target: cuda:sm_80
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
# expect:
module @m {
  graph @main(
      %x: f32[A, 4],
      %s: f32[4],
      %z: u8[4],
      %f: f32[4],
      %a: u8[A, 4],
      %b: i8[4, 4],
      %c: i8[4, 300],
      %d: i8[300, 4]) -> (u8[A, 4], u8[A, 4], u4[A, 4], u8[A, 4], f8e4m3fn[A, 4], i32[A, 4], i32[4, 4]) {
    %0 = div_round %x, %s : f32[A, 4]
    %1 = cast %z {to = f32} : f32[4]
    %2 = add %0, %1 : f32[A, 4]
    %3 = cast %2 {to = u8} : u8[A, 4]
    %4 = recip %s : f32[4]
    %5 = mul %x, %4 : f32[A, 4]
    %6 = cast %z {to = f32} : f32[4]
    %7 = round %5 : f32[A, 4]
    %8 = add %7, %6 : f32[A, 4]
    %9 = cast %8 {to = u8} : u8[A, 4]
    %10 = recip %s : f32[4]
    %11 = mul %x, %10 : f32[A, 4]
    %12 = add %11, %f : f32[A, 4]
    %13 = round %12 : f32[A, 4]
    %14 = const {value = 0} : f32[]
    %15 = max %13, %14 : f32[A, 4]
    %16 = const {value = 15} : f32[]
    %17 = min %15, %16 : f32[A, 4]
    %18 = cast %17 {to = u4} : u4[A, 4]
    %19 = const {value = 1} : f32[]
    %20 = dequantize %a, %19, %z : f32[A, 4]
    %21 = const {value = 1} : f32[]
    %22 = dequantize %b, %21 : f32[4, 4]
    %23 = matmul %20, %22 : f32[A, 4]
    %24 = cast %23 {to = i32} : i32[A, 4]
    %25 = cast %24 {to = f32} : f32[A, 4]
    %26 = mul %25, %s : f32[A, 4]
    %27 = round %26 : f32[A, 4]
    %28 = cast %27 {to = u8} : u8[A, 4]
    %29 = div %x, %s : f32[A, 4]
    %30 = cast %29 {to = f8e4m3fn, saturate} : f8e4m3fn[A, 4]
    %31 = cast %c {to = i32} : i32[4, 300]
    %32 = cast %d {to = i32} : i32[300, 4]
    %33 = matmul %31, %32 : i32[4, 4]
    ret %3, %9, %18, %28, %30, %24, %33
  }
}
