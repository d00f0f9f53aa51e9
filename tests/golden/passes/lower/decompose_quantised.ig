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
    %0 = reshape %s {to = [1, 4]} : f32[1, 4]
    %1 = div %x, %0 : f32[A, 4]
    %2 = cast %z {to = f32} : f32[4]
    %3 = reshape %2 {to = [1, 4]} : f32[1, 4]
    %4 = round %1 : f32[A, 4]
    %5 = add %4, %3 : f32[A, 4]
    %6 = const {value = 0} : f32[]
    %7 = max %5, %6 : f32[A, 4]
    %8 = const {value = 255} : f32[]
    %9 = min %7, %8 : f32[A, 4]
    %10 = cast %9 {to = u8} : u8[A, 4]
    %11 = reshape %s {to = [1, 4]} : f32[1, 4]
    %12 = recip %11 : f32[1, 4]
    %13 = mul %x, %12 : f32[A, 4]
    %14 = cast %z {to = f32} : f32[4]
    %15 = reshape %14 {to = [1, 4]} : f32[1, 4]
    %16 = round %13 : f32[A, 4]
    %17 = add %16, %15 : f32[A, 4]
    %18 = const {value = 0} : f32[]
    %19 = max %17, %18 : f32[A, 4]
    %20 = const {value = 255} : f32[]
    %21 = min %19, %20 : f32[A, 4]
    %22 = cast %21 {to = u8} : u8[A, 4]
    %23 = reshape %s {to = [1, 4]} : f32[1, 4]
    %24 = recip %23 : f32[1, 4]
    %25 = mul %x, %24 : f32[A, 4]
    %26 = reshape %f {to = [1, 4]} : f32[1, 4]
    %27 = add %25, %26 : f32[A, 4]
    %28 = round %27 : f32[A, 4]
    %29 = const {value = 0} : f32[]
    %30 = max %28, %29 : f32[A, 4]
    %31 = const {value = 15} : f32[]
    %32 = min %30, %31 : f32[A, 4]
    %33 = cast %32 {to = u4} : u4[A, 4]
    %34 = const {value = 1} : f32[]
    %35 = dequantize %a, %34, %z : f32[A, 4]
    %36 = const {value = 1} : f32[]
    %37 = dequantize %b, %36 : f32[4, 4]
    %38 = matmul %35, %37 : f32[A, 4]
    %39 = cast %38 {to = i32} : i32[A, 4]
    %40 = reshape %s {to = [1, 4]} : f32[1, 4]
    %41 = cast %39 {to = f32} : f32[A, 4]
    %42 = mul %41, %40 : f32[A, 4]
    %43 = round %42 : f32[A, 4]
    %44 = const {value = 0} : f32[]
    %45 = max %43, %44 : f32[A, 4]
    %46 = const {value = 255} : f32[]
    %47 = min %45, %46 : f32[A, 4]
    %48 = cast %47 {to = u8} : u8[A, 4]
    %49 = reshape %s {to = [1, 4]} : f32[1, 4]
    %50 = div %x, %49 : f32[A, 4]
    %51 = cast %50 {to = f8e4m3fn, saturate} : f8e4m3fn[A, 4]
    %52 = cast %c {to = i32} : i32[4, 300]
    %53 = cast %d {to = i32} : i32[300, 4]
    %54 = matmul %52, %53 : i32[4, 4]
    ret %10, %22, %33, %48, %51, %39, %54
  }
}
