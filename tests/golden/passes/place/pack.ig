# ---- pack ----
# pack: constant matrices become panels, narrow ones rows; leading dims become rows.
# run: pack
# target: cpu:v3
module @m {
  weight @w : f32[20, 5] = splat(0.5)
  weight @v : f32[5, 16] = splat(0.5)
  weight @n : f32[5, 1] = splat(0.5)
  graph @main(%x: f32[A, B, 5], %y: f32[B, 5]) -> (f32[A, B, 20], f32[B, 16], f32[B, 1]) {
    %0 = matmul %x, @w {transpose_b} : f32[A, B, 20]
    %1 = matmul %y, @v : f32[B, 16]
    %2 = matmul %y, @n : f32[B, 1]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  weight @w : f32[20, 5] = splat(0.5)
  weight @v : f32[5, 16] = splat(0.5)
  weight @n : f32[5, 1] = splat(0.5)
  weight @w.panels : f32[2, 5, 16] = recipe(0)
  weight @v.panels.t : f32[1, 5, 16] = recipe(1)
  weight @n.rows.t : f32[1, 5] = recipe(2)
  graph @main(%x: f32[A, B, 5], %y: f32[B, 5]) -> (f32[A, B, 20], f32[B, 16], f32[B, 1]) {
    %0 = reshape %x {to = [A*B, 5]} : f32[A*B, 5]
    %1 = matmul_panels %0, @w.panels {columns = 20} : f32[A*B, 20]
    %2 = reshape %1 {to = [A, B, 20]} : f32[A, B, 20]
    %3 = matmul_panels %y, @v.panels.t {columns = 16} : f32[B, 16]
    %4 = matmul %y, @n.rows.t {transpose_b} : f32[B, 1]
    ret %2, %3, %4
  }
  private graph @weights() -> (f32[2, 5, 16], f32[1, 5, 16], f32[1, 5]) {
    %0 = pad @w {before = [0, 0], after = [12, 0]} : f32[32, 5]
    %1 = reshape %0 {to = [2, 16, 5]} : f32[2, 16, 5]
    %2 = transpose %1 {perm = [0, 2, 1]} : f32[2, 5, 16]
    %3 = reshape @v {to = [5, 1, 16]} : f32[5, 1, 16]
    %4 = transpose %3 {perm = [1, 0, 2]} : f32[1, 5, 16]
    %5 = transpose @n {perm = [1, 0]} : f32[1, 5]
    ret %2, %4, %5
  }
}
# ---- pack_batches ----
# pack: matrices of few rows that all meet one computed factor are one product; views and
# matrices of many rows stay.
# run: pack
# target: cpu:v3
module @m {
  graph @main(%x: f32[A, B, 5], %y: f32[20, 5], %z: f32[A, 40, 5], %t: f32[A, 5, B]) -> (f32[A, B, 20], f32[A, 40, 20], f32[A, B, 20]) {
    %0 = matmul %x, %y {transpose_b} : f32[A, B, 20]
    %1 = matmul %z, %y {transpose_b} : f32[A, 40, 20]
    %2 = transpose %t {perm = [0, 2, 1]} : f32[A, B, 5]
    %3 = matmul %2, %y {transpose_b} : f32[A, B, 20]
    ret %0, %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[A, B, 5], %y: f32[20, 5], %z: f32[A, 40, 5], %t: f32[A, 5, B]) -> (f32[A, B, 20], f32[A, 40, 20], f32[A, B, 20]) {
    %0 = reshape %x {to = [A*B, 5]} : f32[A*B, 5]
    %1 = matmul %0, %y {transpose_b} : f32[A*B, 20]
    %2 = reshape %1 {to = [A, B, 20]} : f32[A, B, 20]
    %3 = matmul %z, %y {transpose_b} : f32[A, 40, 20]
    %4 = transpose %t {perm = [0, 2, 1]} : f32[A, B, 5]
    %5 = matmul %4, %y {transpose_b} : f32[A, B, 20]
    ret %2, %3, %5
  }
}
# ---- pack_computed ----
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
    %3 = pad %2 {before = [0, 0], after = [0, 12]} : f32[5, 32]
    %4 = reshape %3 {to = [5, 2, 16]} : f32[5, 2, 16]
    %5 = transpose %4 {perm = [1, 0, 2]} : f32[2, 5, 16]
    %6 = const {value = [1, 2, 3, 4, 5]} : f32[5, 1]
    %7 = transpose %6 {perm = [1, 0]} : f32[1, 5]
    %8 = const {value = 15} : i32[]
    %9 = and @b, %8 : i32[100]
    %10 = gather @t, %9 {axis = 0, negative = error} : f32[100]
    %11 = reshape %10 {to = [5, 20]} : f32[5, 20]
    %12 = pad %11 {before = [0, 0], after = [0, 12]} : f32[5, 32]
    %13 = reshape %12 {to = [5, 2, 16]} : f32[5, 2, 16]
    %14 = transpose %13 {perm = [1, 0, 2]} : f32[2, 5, 16]
    ret %5, %2, %7, %14
  }
}
# ---- pack_narrow ----
# pack: f16 and bf16 matrices stay narrow in panels; narrow x is widened, its product rounded.
# run: pack
# target: cpu:v3
module @m {
  weight @h : f16[5, 20] = splat(0.5)
  weight @w : bf16[20, 5] = splat(0.5)
  weight @n : f16[2, 5] = splat(0.5)
  weight @d : f64[5, 20] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5], %z: f64[B, 5]) -> (f32[B, 20], bf16[B, 20], f32[B, 2], f32[5, 20], f32[B, 20], f64[B, 20]) {
    %0 = cast @h {to = f32} : f32[5, 20]
    %1 = matmul %x, %0 : f32[B, 20]
    %2 = matmul %y, @w {transpose_b} : bf16[B, 20]
    %3 = cast @n {to = f32} : f32[2, 5]
    %4 = matmul %x, %3 {transpose_b} : f32[B, 2]
    %5 = transpose @w {perm = [1, 0]} : bf16[5, 20]
    %6 = cast %5 {to = f32} : f32[5, 20]
    %7 = matmul %x, %6 : f32[B, 20]
    %8 = matmul %z, @d : f64[B, 20]
    ret %1, %2, %4, %6, %7, %8
  }
}
# expect:
module @m {
  weight @h : f16[5, 20] = splat(0.5)
  weight @w : bf16[20, 5] = splat(0.5)
  weight @n : f16[2, 5] = splat(0.5)
  weight @d : f64[5, 20] = splat(0.5)
  weight @h.panels.t : f16[2, 5, 16] = recipe(0)
  weight @w.panels : bf16[2, 5, 16] = recipe(1)
  weight @n.rows : f32[2, 5] = recipe(2)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5], %z: f64[B, 5]) -> (f32[B, 20], bf16[B, 20], f32[B, 2], f32[5, 20], f32[B, 20], f64[B, 20]) {
    %0 = matmul_panels %x, @h.panels.t {columns = 20} : f32[B, 20]
    %1 = cast %y {to = f32} : f32[B, 5]
    %2 = matmul_panels %1, @w.panels {columns = 20} : f32[B, 20]
    %3 = cast %2 {to = bf16} : bf16[B, 20]
    %4 = matmul %x, @n.rows {transpose_b} : f32[B, 2]
    %5 = transpose @w {perm = [1, 0]} : bf16[5, 20]
    %6 = cast %5 {to = f32} : f32[5, 20]
    %7 = matmul_panels %x, @w.panels {columns = 20} : f32[B, 20]
    %8 = matmul %z, @d : f64[B, 20]
    ret %0, %3, %4, %6, %7, %8
  }
  private graph @weights() -> (f16[2, 5, 16], bf16[2, 5, 16], f32[2, 5]) {
    %0 = pad @h {before = [0, 0], after = [0, 12]} : f16[5, 32]
    %1 = reshape %0 {to = [5, 2, 16]} : f16[5, 2, 16]
    %2 = transpose %1 {perm = [1, 0, 2]} : f16[2, 5, 16]
    %3 = pad @w {before = [0, 0], after = [12, 0]} : bf16[32, 5]
    %4 = reshape %3 {to = [2, 16, 5]} : bf16[2, 16, 5]
    %5 = transpose %4 {perm = [0, 2, 1]} : bf16[2, 5, 16]
    %6 = cast @n {to = f32} : f32[2, 5]
    ret %2, %5, %6
  }
}
# ---- pack_quantised ----
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
    %0 = pad @w {before = [0, 0], after = [0, 12]} : i8[5, 32]
    %1 = reshape %0 {to = [5, 2, 16]} : i8[5, 2, 16]
    %2 = transpose %1 {perm = [1, 0, 2]} : i8[2, 5, 16]
    %3 = pad @u {before = [0, 0], after = [12, 0]} : u8[32, 5]
    %4 = reshape %3 {to = [2, 16, 5]} : u8[2, 16, 5]
    %5 = transpose %4 {perm = [0, 2, 1]} : u8[2, 5, 16]
    ret %2, %5
  }
}
# ---- pack_quantised_written ----
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
    %0 = pad @w {before = [0, 0], after = [0, 12]} : i8[5, 32]
    %1 = reshape %0 {to = [5, 2, 16]} : i8[5, 2, 16]
    %2 = transpose %1 {perm = [1, 0, 2]} : i8[2, 5, 16]
    %3 = pad @u {before = [0, 0], after = [12, 0]} : u8[32, 5]
    %4 = reshape %3 {to = [2, 16, 5]} : u8[2, 16, 5]
    %5 = transpose %4 {perm = [0, 2, 1]} : u8[2, 5, 16]
    ret %2, %5
  }
}
# ---- pack_quantised_zeros ----
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
    %0 = pad @w {before = [0, 0], after = [0, 8]} : i8[8, 16]
    %1 = reshape %0 {to = [8, 1, 16]} : i8[8, 1, 16]
    %2 = transpose %1 {perm = [1, 0, 2]} : i8[1, 8, 16]
    %3 = const {value = 0.25} : f32[]
    %4 = const {value = [0, 1, 2, 3, 4, 5, 6, 7]} : i8[8]
    %5 = dequantize @w, %3, %4 {axis = 0} : f32[8, 8]
    %6 = pad %5 {before = [0, 0], after = [0, 8]} : f32[8, 16]
    %7 = reshape %6 {to = [8, 1, 16]} : f32[8, 1, 16]
    %8 = transpose %7 {perm = [1, 0, 2]} : f32[1, 8, 16]
    %9 = dequantize @w, @b {axis = 1, block = 8} : f32[8, 8]
    %10 = pad %9 {before = [0, 0], after = [0, 8]} : f32[8, 16]
    %11 = reshape %10 {to = [8, 1, 16]} : f32[8, 1, 16]
    %12 = transpose %11 {perm = [1, 0, 2]} : f32[1, 8, 16]
    ret %2, %8, %12
  }
}
# ---- pack_widened ----
# pack: v2 has no instruction that widens f16, so the recipe does; bf16 is a shift.
# run: pack
# target: cpu:v2
module @m {
  weight @h : f16[5, 20] = splat(0.5)
  weight @w : bf16[20, 5] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5]) -> (f32[B, 20], bf16[B, 20]) {
    %0 = cast @h {to = f32} : f32[5, 20]
    %1 = matmul %x, %0 : f32[B, 20]
    %2 = matmul %y, @w {transpose_b} : bf16[B, 20]
    ret %1, %2
  }
}
# expect:
module @m {
  weight @h : f16[5, 20] = splat(0.5)
  weight @w : bf16[20, 5] = splat(0.5)
  weight @h.panels.t : f32[2, 5, 16] = recipe(0)
  weight @w.panels : bf16[2, 5, 16] = recipe(1)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5]) -> (f32[B, 20], bf16[B, 20]) {
    %0 = matmul_panels %x, @h.panels.t {columns = 20} : f32[B, 20]
    %1 = cast %y {to = f32} : f32[B, 5]
    %2 = matmul_panels %1, @w.panels {columns = 20} : f32[B, 20]
    %3 = cast %2 {to = bf16} : bf16[B, 20]
    ret %0, %3
  }
  private graph @weights() -> (f32[2, 5, 16], bf16[2, 5, 16]) {
    %0 = cast @h {to = f32} : f32[5, 20]
    %1 = pad %0 {before = [0, 0], after = [0, 12]} : f32[5, 32]
    %2 = reshape %1 {to = [5, 2, 16]} : f32[5, 2, 16]
    %3 = transpose %2 {perm = [1, 0, 2]} : f32[2, 5, 16]
    %4 = pad @w {before = [0, 0], after = [12, 0]} : bf16[32, 5]
    %5 = reshape %4 {to = [2, 16, 5]} : bf16[2, 16, 5]
    %6 = transpose %5 {perm = [0, 2, 1]} : bf16[2, 5, 16]
    ret %3, %6
  }
}
# ---- pack_wide ----
# pack: GPUs multiply narrow factors as they are, with sums in f32; f16 with bf16 it widens.
# run: pack,dce
# target: cuda:sm_80
module @m {
  weight @w : bf16[5, 20] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5], %z: f16[B, 5]) -> (f32[B, 20], bf16[B, 20], f32[B, 20]) {
    %0 = cast %x {to = bf16} : bf16[B, 5]
    %1 = cast %0 {to = f32} : f32[B, 5]
    %2 = cast @w {to = f32} : f32[5, 20]
    %3 = matmul %1, %2 : f32[B, 20]
    %4 = matmul %y, @w : bf16[B, 20]
    %5 = cast %z {to = f32} : f32[B, 5]
    %6 = matmul %5, %2 : f32[B, 20]
    ret %3, %4, %6
  }
}
# expect:
module @m {
  weight @w : bf16[5, 20] = splat(0.5)
  weight @w.panels.t : bf16[2, 5, 16] = recipe(0)
  graph @main(%x: f32[B, 5], %y: bf16[B, 5], %z: f16[B, 5]) -> (f32[B, 20], bf16[B, 20], f32[B, 20]) {
    %0 = cast %x {to = bf16} : bf16[B, 5]
    %1 = matmul_panels %0, @w.panels.t {columns = 20, wide} : f32[B, 20]
    %2 = matmul_panels %y, @w.panels.t {columns = 20, wide} : f32[B, 20]
    %3 = cast %2 {to = bf16} : bf16[B, 20]
    %4 = cast %z {to = f32} : f32[B, 5]
    %5 = matmul_panels %4, @w.panels.t {columns = 20} : f32[B, 20]
    ret %1, %3, %5
  }
  private graph @weights() -> (bf16[2, 5, 16]) {
    %0 = pad @w {before = [0, 0], after = [0, 12]} : bf16[5, 32]
    %1 = reshape %0 {to = [5, 2, 16]} : bf16[5, 2, 16]
    %2 = transpose %1 {perm = [1, 0, 2]} : bf16[2, 5, 16]
    ret %2
  }
}
