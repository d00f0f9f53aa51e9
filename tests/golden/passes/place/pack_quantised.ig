# pack: matrices of 8-bit integers stay so; their zero points become an operand, scales
# go to the product's columns or to the rows before it.
# run: pack
# target: cpu:v3
# within: 1e-5 scales come after the sum
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(3)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[A, B, 5]) -> (f32[B, 20], f32[A, B, 20], f32[B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize @w, %0 : f32[5, 20]
    %2 = matmul %x, %1 : f32[B, 20]
    %3 = const {value = 128} : u8[]
    %4 = dequantize @u, @s, %3 {axis = 0} : f32[20, 5]
    %5 = matmul %y, %4 {transpose_b} : f32[A, B, 20]
    %6 = dequantize @w, @r {axis = 0} : f32[5, 20]
    %7 = matmul %x, %6 : f32[B, 20]
    ret %2, %5, %7
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(3)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  weight @w.panels.t : i8[2, 5, 16] = recipe(0)
  weight @u.panels : u8[2, 5, 16] = recipe(1)
  graph @main(%x: f32[B, 5], %y: f32[A, B, 5]) -> (f32[B, 20], f32[A, B, 20], f32[B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = matmul_panels %x, @w.panels.t {columns = 20} : f32[B, 20]
    %2 = mul %1, %0 : f32[B, 20]
    %3 = const {value = 128} : u8[]
    %4 = reshape %y {to = [A*B, 5]} : f32[A*B, 5]
    %5 = const {value = [128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : u8[2, 16]
    %6 = matmul_panels %4, @u.panels, %5 {columns = 20} : f32[A*B, 20]
    %7 = mul %6, @s : f32[A*B, 20]
    %8 = reshape %7 {to = [A, B, 20]} : f32[A, B, 20]
    %9 = mul %x, @r : f32[B, 5]
    %10 = matmul_panels %9, @w.panels.t {columns = 20} : f32[B, 20]
    ret %2, %8, %10
  }
  private graph @weights() -> (i8[2, 5, 16], u8[2, 5, 16]) {
    %0 = transpose @w {perm = [1, 0]} : i8[20, 5]
    %1 = pad %0 {before = [0, 0], after = [12, 0]} : i8[32, 5]
    %2 = reshape %1 {to = [2, 16, 5]} : i8[2, 16, 5]
    %3 = transpose %2 {perm = [0, 2, 1]} : i8[2, 5, 16]
    %4 = pad @u {before = [0, 0], after = [12, 0]} : u8[32, 5]
    %5 = reshape %4 {to = [2, 16, 5]} : u8[2, 16, 5]
    %6 = transpose %5 {perm = [0, 2, 1]} : u8[2, 5, 16]
    ret %3, %6
  }
}
