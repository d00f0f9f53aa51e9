# pack: zero points of columns stay with their columns; those of rows, and blocks, are
# computed before the product.
# run: pack
# target: cpu:v3
# within: 1e-5 scales come after the sum
module @m {
  weight @w : i8[8, 8] = splat(3)
  weight @b : f32[8, 1] = splat(0.5)
  graph @main(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 8], f32[B, 8]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = [0, 1, 2, 3, 4, 5, 6, 7]} : i8[8]
    %2 = dequantize @w, %0, %1 {axis = 1} : f32[8, 8]
    %3 = matmul %x, %2 : f32[B, 8]
    %4 = dequantize @w, %0, %1 {axis = 0} : f32[8, 8]
    %5 = matmul %x, %4 : f32[B, 8]
    %6 = dequantize @w, @b {axis = 1, block = 8} : f32[8, 8]
    %7 = matmul %x, %6 : f32[B, 8]
    ret %3, %5, %7
  }
}
# expect:
module @m {
  weight @w : i8[8, 8] = splat(3)
  weight @b : f32[8, 1] = splat(0.5)
  weight @w.panels.t : i8[1, 8, 16] = recipe(0)
  weight @w.value1.panels.t : f32[1, 8, 16] = recipe(1)
  weight @w.value2.panels.t : f32[1, 8, 16] = recipe(2)
  graph @main(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 8], f32[B, 8]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = [0, 1, 2, 3, 4, 5, 6, 7]} : i8[8]
    %2 = const {value = [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0]} : i8[1, 16]
    %3 = matmul_panels %x, @w.panels.t, %2 {columns = 8} : f32[B, 8]
    %4 = mul %3, %0 : f32[B, 8]
    %5 = matmul_panels %x, @w.value1.panels.t {columns = 8} : f32[B, 8]
    %6 = matmul_panels %x, @w.value2.panels.t {columns = 8} : f32[B, 8]
    ret %4, %5, %6
  }
  private graph @weights() -> (i8[1, 8, 16], f32[1, 8, 16], f32[1, 8, 16]) {
    %0 = transpose @w {perm = [1, 0]} : i8[8, 8]
    %1 = pad %0 {before = [0, 0], after = [8, 0]} : i8[16, 8]
    %2 = reshape %1 {to = [1, 16, 8]} : i8[1, 16, 8]
    %3 = transpose %2 {perm = [0, 2, 1]} : i8[1, 8, 16]
    %4 = const {value = 0.25} : f32[]
    %5 = const {value = [0, 1, 2, 3, 4, 5, 6, 7]} : i8[8]
    %6 = dequantize @w, %4, %5 {axis = 0} : f32[8, 8]
    %7 = transpose %6 {perm = [1, 0]} : f32[8, 8]
    %8 = pad %7 {before = [0, 0], after = [8, 0]} : f32[16, 8]
    %9 = reshape %8 {to = [1, 16, 8]} : f32[1, 16, 8]
    %10 = transpose %9 {perm = [0, 2, 1]} : f32[1, 8, 16]
    %11 = dequantize @w, @b {axis = 1, block = 8} : f32[8, 8]
    %12 = transpose %11 {perm = [1, 0]} : f32[8, 8]
    %13 = pad %12 {before = [0, 0], after = [8, 0]} : f32[16, 8]
    %14 = reshape %13 {to = [1, 16, 8]} : f32[1, 16, 8]
    %15 = transpose %14 {perm = [0, 2, 1]} : f32[1, 8, 16]
    ret %3, %10, %15
  }
}
