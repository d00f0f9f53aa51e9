# recognise_integer: scales of columns, whatever is transposed; a scale of rows of K, one of
# zero, a computed one, and sums that 32 bits may not hold stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  weight @l : i8[40000, 2] = splat(3)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5]) -> (f32[B, 20], f32[A, B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = dequantize %x, %0, %1 : f32[B, 5]
    %3 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = const {value = [0.5]} : f32[1, 1]
    %6 = dequantize %y, %0 : f32[A, B, 5]
    %7 = dequantize @u, %5, %1 : f32[20, 5]
    %8 = transpose %7 {perm = [1, 0]} : f32[5, 20]
    %9 = matmul %6, %8 : f32[A, B, 20]
    ret %4, %9
  }
  graph @stays(%x: u8[B, 5], %z: u8[B, 40000], %c: f32[]) -> (f32[B, 20], f32[B, 20], f32[B, 20], f32[B, 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 0} : f32[]
    %2 = dequantize %x, %0 : f32[B, 5]
    %3 = dequantize @w, @r {axis = 0} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = dequantize @w, %1 : f32[5, 20]
    %6 = matmul %2, %5 : f32[B, 20]
    %7 = dequantize %x, %c : f32[B, 5]
    %8 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %9 = matmul %7, %8 : f32[B, 20]
    %10 = dequantize %z, %0 : f32[B, 40000]
    %11 = dequantize @l, %0 : f32[40000, 2]
    %12 = matmul %10, %11 : f32[B, 2]
    ret %4, %6, %9, %12
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  weight @l : i8[40000, 2] = splat(3)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5]) -> (f32[B, 20], f32[A, B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = matmul_integer %x, @w, %1 : i32[B, 20]
    %3 = mul %0, @s : f32[20]
    %4 = dequantize %2, %3 {axis = 1} : f32[B, 20]
    %5 = const {value = [0.5]} : f32[1, 1]
    %6 = transpose @u {perm = [1, 0]} : u8[5, 20]
    %7 = const {value = 0} : i8[]
    %8 = matmul_integer %y, %6, %7, %1 : i32[A, B, 20]
    %9 = reshape %5 {to = []} : f32[]
    %10 = mul %0, %9 : f32[]
    %11 = dequantize %8, %10 : f32[A, B, 20]
    ret %4, %11
  }
  graph @stays(%x: u8[B, 5], %z: u8[B, 40000], %c: f32[]) -> (f32[B, 20], f32[B, 20], f32[B, 20], f32[B, 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 0} : f32[]
    %2 = dequantize %x, %0 : f32[B, 5]
    %3 = dequantize @w, @r {axis = 0} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = dequantize @w, %1 : f32[5, 20]
    %6 = matmul %2, %5 : f32[B, 20]
    %7 = dequantize %x, %c : f32[B, 5]
    %8 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %9 = matmul %7, %8 : f32[B, 20]
    %10 = dequantize %z, %0 : f32[B, 40000]
    %11 = dequantize @l, %0 : f32[40000, 2]
    %12 = matmul %10, %11 : f32[B, 2]
    ret %4, %6, %9, %12
  }
}
