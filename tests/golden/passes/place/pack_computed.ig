# pack: what constants alone make is computed with the panels: a zero point for each row
# has no place in the product, nor have narrow matrices that stand behind other ops.
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @r : f32[5, 1] = splat(0.5)
  weight @z : f32[5, 1] = [1.0, 2.0, 3.0, 4.0, 5.0]
  graph @main(%x: f32[B, 5], %y: f32[5, 20]) -> (f32[B, 20], f32[B, 20], f32[B, 5], f32[B, 20], f32[B, 1]) {
    %0 = cast @w {to = f32} : f32[5, 20]
    %1 = sub %0, @z : f32[5, 20]
    %2 = mul %1, @r : f32[5, 20]
    %3 = matmul %x, %2 : f32[B, 20]
    %4 = relu %3 : f32[B, 20]
    %5 = matmul %4, %2 {transpose_b} : f32[B, 5]
    %6 = add %2, %y : f32[5, 20]
    %7 = matmul %x, %6 : f32[B, 20]
    %8 = matmul %x, %2 : f32[B, 20]
    %9 = const {value = [1, 2, 3, 4, 5]} : f32[5, 1]
    %10 = matmul %x, %9 : f32[B, 1]
    ret %3, %8, %5, %7, %10
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @r : f32[5, 1] = splat(0.5)
  weight @z : f32[5, 1] = [1, 2, 3, 4, 5]
  weight @w.value0.panels.t : f32[2, 5, 16] = recipe(0)
  weight @w.value0.rows : f32[5, 20] = recipe(1)
  weight @constant.value2.rows.t : f32[1, 5] = recipe(2)
  graph @main(%x: f32[B, 5], %y: f32[5, 20]) -> (f32[B, 20], f32[B, 20], f32[B, 5], f32[B, 20], f32[B, 1]) {
    %0 = cast @w {to = f32} : f32[5, 20]
    %1 = sub %0, @z : f32[5, 20]
    %2 = mul %1, @r : f32[5, 20]
    %3 = matmul_panels %x, @w.value0.panels.t {columns = 20} : f32[B, 20]
    %4 = relu %3 : f32[B, 20]
    %5 = matmul %4, @w.value0.rows {transpose_b} : f32[B, 5]
    %6 = add %2, %y : f32[5, 20]
    %7 = matmul %x, %6 : f32[B, 20]
    %8 = matmul_panels %x, @w.value0.panels.t {columns = 20} : f32[B, 20]
    %9 = matmul %x, @constant.value2.rows.t {transpose_b} : f32[B, 1]
    ret %3, %8, %5, %7, %9
  }
  private graph @weights() -> (f32[2, 5, 16], f32[5, 20], f32[1, 5]) {
    %0 = cast @w {to = f32} : f32[5, 20]
    %1 = sub %0, @z : f32[5, 20]
    %2 = mul %1, @r : f32[5, 20]
    %3 = transpose %2 {perm = [1, 0]} : f32[20, 5]
    %4 = pad %3 {before = [0, 0], after = [12, 0]} : f32[32, 5]
    %5 = reshape %4 {to = [2, 16, 5]} : f32[2, 16, 5]
    %6 = transpose %5 {perm = [0, 2, 1]} : f32[2, 5, 16]
    %7 = const {value = [1, 2, 3, 4, 5]} : f32[5, 1]
    %8 = transpose %7 {perm = [1, 0]} : f32[1, 5]
    ret %6, %2, %8
  }
}
