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
    %0 = div %x, %s : f32[A, 4]
    %1 = cast %z {to = f32} : f32[4]
    %2 = round %0 : f32[A, 4]
    %3 = add %2, %1 : f32[A, 4]
    %4 = const {value = 0} : f32[]
    %5 = max %3, %4 : f32[A, 4]
    %6 = const {value = 255} : f32[]
    %7 = min %5, %6 : f32[A, 4]
    %8 = cast %7 {to = u8} : u8[A, 4]
    %9 = recip %s : f32[4]
    %10 = mul %x, %9 : f32[A, 4]
    %11 = cast %z {to = f32} : f32[4]
    %12 = round %10 : f32[A, 4]
    %13 = add %12, %11 : f32[A, 4]
    %14 = const {value = 0} : f32[]
    %15 = max %13, %14 : f32[A, 4]
    %16 = const {value = 255} : f32[]
    %17 = min %15, %16 : f32[A, 4]
    %18 = cast %17 {to = u8} : u8[A, 4]
    %19 = recip %s : f32[4]
    %20 = mul %x, %19 : f32[A, 4]
    %21 = add %20, %f : f32[A, 4]
    %22 = round %21 : f32[A, 4]
    %23 = const {value = 0} : f32[]
    %24 = max %22, %23 : f32[A, 4]
    %25 = const {value = 15} : f32[]
    %26 = min %24, %25 : f32[A, 4]
    %27 = cast %26 {to = u4} : u4[A, 4]
    %28 = const {value = 1} : f32[]
    %29 = dequantize %a, %28, %z : f32[A, 4]
    %30 = const {value = 1} : f32[]
    %31 = dequantize %b, %30 : f32[4, 4]
    %32 = matmul %29, %31 : f32[A, 4]
    %33 = cast %32 {to = i32} : i32[A, 4]
    %34 = cast %33 {to = f32} : f32[A, 4]
    %35 = mul %34, %s : f32[A, 4]
    %36 = round %35 : f32[A, 4]
    %37 = const {value = 0} : f32[]
    %38 = max %36, %37 : f32[A, 4]
    %39 = const {value = 255} : f32[]
    %40 = min %38, %39 : f32[A, 4]
    %41 = cast %40 {to = u8} : u8[A, 4]
    %42 = div %x, %s : f32[A, 4]
    %43 = cast %42 {to = f8e4m3fn, saturate} : f8e4m3fn[A, 4]
    %44 = cast %c {to = i32} : i32[4, 300]
    %45 = cast %d {to = i32} : i32[300, 4]
    %46 = matmul %44, %45 : i32[4, 4]
    ret %8, %18, %27, %41, %43, %33, %46
  }
}
