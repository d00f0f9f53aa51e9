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
    %3 = transpose @v {perm = [1, 0]} : f32[16, 5]
    %4 = reshape %3 {to = [1, 16, 5]} : f32[1, 16, 5]
    %5 = transpose %4 {perm = [0, 2, 1]} : f32[1, 5, 16]
    %6 = transpose @n {perm = [1, 0]} : f32[1, 5]
    ret %2, %5, %6
  }
}
