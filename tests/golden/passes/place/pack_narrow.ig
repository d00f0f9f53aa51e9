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
    %0 = transpose @h {perm = [1, 0]} : f16[20, 5]
    %1 = pad %0 {before = [0, 0], after = [12, 0]} : f16[32, 5]
    %2 = reshape %1 {to = [2, 16, 5]} : f16[2, 16, 5]
    %3 = transpose %2 {perm = [0, 2, 1]} : f16[2, 5, 16]
    %4 = pad @w {before = [0, 0], after = [12, 0]} : bf16[32, 5]
    %5 = reshape %4 {to = [2, 16, 5]} : bf16[2, 16, 5]
    %6 = transpose %5 {perm = [0, 2, 1]} : bf16[2, 5, 16]
    %7 = cast @n {to = f32} : f32[2, 5]
    ret %3, %6, %7
  }
}
