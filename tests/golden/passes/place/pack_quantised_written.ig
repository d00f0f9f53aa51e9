# pack after recognise_dequantise: matrices of 8-bit integers written out stay so; their
# zero points become an operand, scales go to the columns or to the rows before them.
# run: recognise_dequantise,pack
# target: cpu:v3
# within: 1e-5 scales come after the sum
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(3)
  weight @s : f32[20, 1] = splat(0.5)
  weight @z : u8[20, 1] = splat(128)
  weight @r : f32[5, 1] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[A, B, 5]) -> (f32[B, 20], f32[A, B, 20], f32[B, 20]) {
    %0 = cast @w {to = f32} : f32[5, 20]
    %1 = const {value = 0.25} : f32[]
    %2 = mul %0, %1 : f32[5, 20]
    %3 = matmul %x, %2 : f32[B, 20]
    %4 = cast @u {to = i32} : i32[20, 5]
    %5 = const {value = 128} : i32[]
    %6 = sub %4, %5 : i32[20, 5]
    %7 = cast %6 {to = f32} : f32[20, 5]
    %8 = mul @s, %7 : f32[20, 5]
    %9 = matmul %y, %8 {transpose_b} : f32[A, B, 20]
    %10 = cast @w {to = f32} : f32[5, 20]
    %11 = mul %10, @r : f32[5, 20]
    %12 = matmul %x, %11 : f32[B, 20]
    ret %3, %9, %12
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(3)
  weight @s : f32[20, 1] = splat(0.5)
  weight @z : u8[20, 1] = splat(128)
  weight @r : f32[5, 1] = splat(0.5)
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
    %7 = reshape @s {to = [20]} : f32[20]
    %8 = mul %6, %7 : f32[A*B, 20]
    %9 = reshape %8 {to = [A, B, 20]} : f32[A, B, 20]
    %10 = reshape @r {to = [5]} : f32[5]
    %11 = mul %x, %10 : f32[B, 5]
    %12 = matmul_panels %11, @w.panels.t {columns = 20} : f32[B, 20]
    ret %2, %9, %12
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
