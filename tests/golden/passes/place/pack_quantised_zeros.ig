# pack: zero points of columns stay with their columns; those of rows, and blocks, are
# computed before the product.
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[2, 20] = splat(3)
  weight @b : f32[2, 1] = splat(0.5)
  graph @main(%x: f32[B, 2]) -> (f32[B, 20], f32[B, 20], f32[B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]} : i8[20]
    %2 = dequantize @w, %0, %1 {axis = 1} : f32[2, 20]
    %3 = matmul %x, %2 : f32[B, 20]
    %4 = const {value = [1, 2]} : i8[2]
    %5 = dequantize @w, %0, %4 {axis = 0} : f32[2, 20]
    %6 = matmul %x, %5 : f32[B, 20]
    %7 = dequantize @w, @b {axis = 1, block = 20} : f32[2, 20]
    %8 = matmul %x, %7 : f32[B, 20]
    ret %3, %6, %8
  }
}
# expect:
module @m {
  weight @w : i8[2, 20] = splat(3)
  weight @b : f32[2, 1] = splat(0.5)
  weight @w.panels.t : i8[2, 2, 16] = recipe(0)
  weight @w.value1.panels.t : f32[2, 2, 16] = recipe(1)
  weight @w.value2.panels.t : f32[2, 2, 16] = recipe(2)
  graph @main(%x: f32[B, 2]) -> (f32[B, 20], f32[B, 20], f32[B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]} : i8[20]
    %2 = const {value = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i8[2, 16]
    %3 = matmul_panels %x, @w.panels.t, %2 {columns = 20} : f32[B, 20]
    %4 = mul %3, %0 : f32[B, 20]
    %5 = const {value = [1, 2]} : i8[2]
    %6 = matmul_panels %x, @w.value1.panels.t {columns = 20} : f32[B, 20]
    %7 = matmul_panels %x, @w.value2.panels.t {columns = 20} : f32[B, 20]
    ret %4, %6, %7
  }
  private graph @weights() -> (i8[2, 2, 16], f32[2, 2, 16], f32[2, 2, 16]) {
    %0 = transpose @w {perm = [1, 0]} : i8[20, 2]
    %1 = pad %0 {before = [0, 0], after = [12, 0]} : i8[32, 2]
    %2 = reshape %1 {to = [2, 16, 2]} : i8[2, 16, 2]
    %3 = transpose %2 {perm = [0, 2, 1]} : i8[2, 2, 16]
    %4 = const {value = 0.25} : f32[]
    %5 = const {value = [1, 2]} : i8[2]
    %6 = dequantize @w, %4, %5 {axis = 0} : f32[2, 20]
    %7 = transpose %6 {perm = [1, 0]} : f32[20, 2]
    %8 = pad %7 {before = [0, 0], after = [12, 0]} : f32[32, 2]
    %9 = reshape %8 {to = [2, 16, 2]} : f32[2, 16, 2]
    %10 = transpose %9 {perm = [0, 2, 1]} : f32[2, 2, 16]
    %11 = dequantize @w, @b {axis = 1, block = 20} : f32[2, 20]
    %12 = transpose %11 {perm = [1, 0]} : f32[20, 2]
    %13 = pad %12 {before = [0, 0], after = [12, 0]} : f32[32, 2]
    %14 = reshape %13 {to = [2, 16, 2]} : f32[2, 16, 2]
    %15 = transpose %14 {perm = [0, 2, 1]} : f32[2, 2, 16]
    ret %3, %10, %15
  }
}
