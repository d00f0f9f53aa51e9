# recognise_integer: both factors computed, each of one scale; of a depth that nobody knows
# sums take 64 bits.  Two scales, and a first factor that is turned, stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  symbol L {min = 1, max = 33025}
  graph @main(%x: u8[B, 3, 8], %y: i8[B, 8, 5], %z: i8[5, 8], %o: u8[B, 3, K], %p: u8[B, K, 5], %u: u8[3, L], %v: u8[L, 5]) -> (f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 8, 5], f32[3, 5]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 3} : u8[]
    %2 = const {value = -7} : i8[]
    %3 = const {value = [0.5, 0.25, 0.125, 0.5, 0.5]} : f32[5]
    %4 = dequantize %x, %0, %1 : f32[B, 3, 8]
    %5 = dequantize %y, %0 : f32[B, 8, 5]
    %6 = matmul %4, %5 : f32[B, 3, 5]
    %7 = dequantize %z, %0, %2 : f32[5, 8]
    %8 = matmul %4, %7 {transpose_b} : f32[B, 3, 5]
    %9 = dequantize %y, %3 {axis = 2} : f32[B, 8, 5]
    %10 = matmul %4, %9 : f32[B, 3, 5]
    %11 = dequantize %o, %0 : f32[B, 3, K]
    %12 = dequantize %p, %0 : f32[B, K, 5]
    %13 = matmul %11, %12 : f32[B, 3, 5]
    %14 = matmul %4, %6 {transpose_a} : f32[B, 8, 5]
    %15 = dequantize %u, %0 : f32[3, L]
    %16 = dequantize %v, %0 : f32[L, 5]
    %17 = matmul %15, %16 : f32[3, 5]
    ret %6, %8, %10, %13, %14, %17
  }
}
# expect:
module @m {
  symbol L {min = 1, max = 33025}
  graph @main(
      %x: u8[B, 3, 8],
      %y: i8[B, 8, 5],
      %z: i8[5, 8],
      %o: u8[B, 3, K],
      %p: u8[B, K, 5],
      %u: u8[3, L],
      %v: u8[L, 5]) -> (f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 8, 5], f32[3, 5]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 3} : u8[]
    %2 = const {value = -7} : i8[]
    %3 = const {value = [0.5, 0.25, 0.125, 0.5, 0.5]} : f32[5]
    %4 = dequantize %x, %0, %1 : f32[B, 3, 8]
    %5 = const {value = 0} : i8[]
    %6 = matmul_integer %x, %y, %1, %5 : i32[B, 3, 5]
    %7 = mul %0, %0 : f32[]
    %8 = dequantize %6, %7 : f32[B, 3, 5]
    %9 = transpose %z {perm = [1, 0]} : i8[8, 5]
    %10 = matmul_integer %x, %9, %1, %2 : i32[B, 3, 5]
    %11 = mul %0, %0 : f32[]
    %12 = dequantize %10, %11 : f32[B, 3, 5]
    %13 = dequantize %y, %3 {axis = 2} : f32[B, 8, 5]
    %14 = matmul %4, %13 : f32[B, 3, 5]
    %15 = const {value = 0} : u8[]
    %16 = const {value = 0} : u8[]
    guard le(K, 33554432) "a product of bytes has at most 2^25 terms"
    %17 = matmul_integer %o, %p, %15, %16 {wide} : i64[B, 3, 5]
    %18 = mul %0, %0 : f32[]
    %19 = cast %17 {to = f32} : f32[B, 3, 5]
    %20 = mul %19, %18 : f32[B, 3, 5]
    %21 = matmul %4, %8 {transpose_a} : f32[B, 8, 5]
    %22 = const {value = 0} : u8[]
    %23 = const {value = 0} : u8[]
    %24 = matmul_integer %u, %v, %22, %23 : i32[3, 5]
    %25 = mul %0, %0 : f32[]
    %26 = dequantize %24, %25 : f32[3, 5]
    ret %8, %12, %14, %20, %21, %26
  }
}
