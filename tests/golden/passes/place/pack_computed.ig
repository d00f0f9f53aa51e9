# pack: what constants alone make is computed with the panels: a zero point for each row
# has no place in the product, nor have narrow matrices that stand behind other ops.
# Numbers of four bits that stand for the entries of a table are looked up with the panels,
# where the table has one for each.  A slice whose start the run knows is no constant.
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @r : f32[5, 1] = splat(0.5)
  weight @z : f32[5, 1] = [1.0, 2.0, 3.0, 4.0, 5.0]
  weight @t : f32[16] = splat(2)
  weight @short : f32[15] = splat(3)
  weight @b : i32[100] = splat(5)
  weight @s : f32[4, 100] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[5, 20]) -> (f32[B, 20], f32[B, 20], f32[B, 5], f32[B, 20], f32[B, 1], f32[B, 20], f32[B, 20], f32[B, 20]) {
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
    %11 = const {value = 15} : i32[]
    %12 = and @b, %11 : i32[100]
    %13 = gather @t, %12 {axis = 0, negative = error} : f32[100]
    %14 = reshape %13 {to = [5, 20]} : f32[5, 20]
    %15 = matmul %x, %14 : f32[B, 20]
    %16 = gather @short, %12 {axis = 0, negative = error} : f32[100]
    %17 = reshape %16 {to = [5, 20]} : f32[5, 20]
    %18 = matmul %x, %17 : f32[B, 20]
    guard le(B, 3) "a row"
    %19 = slice @s {starts = [B, 0], sizes = [1, 100]} : f32[1, 100]
    %20 = reshape %19 {to = [5, 20]} : f32[5, 20]
    %21 = matmul %x, %20 : f32[B, 20]
    ret %3, %8, %5, %7, %10, %15, %18, %21
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @r : f32[5, 1] = splat(0.5)
  weight @z : f32[5, 1] = [1, 2, 3, 4, 5]
  weight @t : f32[16] = splat(2)
  weight @short : f32[15] = splat(3)
  weight @b : i32[100] = splat(5)
  weight @s : f32[4, 100] = splat(0.5)
  weight @w.value0.panels.t : f32[2, 5, 16] = recipe(0)
  weight @w.value0.rows : f32[5, 20] = recipe(1)
  weight @constant.value2.rows.t : f32[1, 5] = recipe(2)
  weight @t.value3.panels.t : f32[2, 5, 16] = recipe(3)
  graph @main(%x: f32[B, 5], %y: f32[5, 20]) -> (f32[B, 20], f32[B, 20], f32[B, 5], f32[B, 20], f32[B, 1], f32[B, 20], f32[B, 20], f32[B, 20]) {
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
    %10 = const {value = 15} : i32[]
    %11 = and @b, %10 : i32[100]
    %12 = matmul_panels %x, @t.value3.panels.t {columns = 20} : f32[B, 20]
    %13 = gather @short, %11 {axis = 0, negative = error} : f32[100]
    %14 = reshape %13 {to = [5, 20]} : f32[5, 20]
    %15 = matmul %x, %14 : f32[B, 20]
    guard le(B, 3) "a row"
    %16 = slice @s {starts = [B, 0], sizes = [1, 100]} : f32[1, 100]
    %17 = reshape %16 {to = [5, 20]} : f32[5, 20]
    %18 = matmul %x, %17 : f32[B, 20]
    ret %3, %8, %5, %7, %9, %12, %15, %18
  }
  private graph @weights() -> (f32[2, 5, 16], f32[5, 20], f32[1, 5], f32[2, 5, 16]) {
    %0 = cast @w {to = f32} : f32[5, 20]
    %1 = sub %0, @z : f32[5, 20]
    %2 = mul %1, @r : f32[5, 20]
    %3 = transpose %2 {perm = [1, 0]} : f32[20, 5]
    %4 = pad %3 {before = [0, 0], after = [12, 0]} : f32[32, 5]
    %5 = reshape %4 {to = [2, 16, 5]} : f32[2, 16, 5]
    %6 = transpose %5 {perm = [0, 2, 1]} : f32[2, 5, 16]
    %7 = const {value = [1, 2, 3, 4, 5]} : f32[5, 1]
    %8 = transpose %7 {perm = [1, 0]} : f32[1, 5]
    %9 = const {value = 15} : i32[]
    %10 = and @b, %9 : i32[100]
    %11 = gather @t, %10 {axis = 0, negative = error} : f32[100]
    %12 = reshape %11 {to = [5, 20]} : f32[5, 20]
    %13 = transpose %12 {perm = [1, 0]} : f32[20, 5]
    %14 = pad %13 {before = [0, 0], after = [12, 0]} : f32[32, 5]
    %15 = reshape %14 {to = [2, 16, 5]} : f32[2, 16, 5]
    %16 = transpose %15 {perm = [0, 2, 1]} : f32[2, 5, 16]
    ret %6, %2, %8, %16
  }
}
