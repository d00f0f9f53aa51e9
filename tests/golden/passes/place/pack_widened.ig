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
    %1 = transpose %0 {perm = [1, 0]} : f32[20, 5]
    %2 = pad %1 {before = [0, 0], after = [12, 0]} : f32[32, 5]
    %3 = reshape %2 {to = [2, 16, 5]} : f32[2, 16, 5]
    %4 = transpose %3 {perm = [0, 2, 1]} : f32[2, 5, 16]
    %5 = pad @w {before = [0, 0], after = [12, 0]} : bf16[32, 5]
    %6 = reshape %5 {to = [2, 16, 5]} : bf16[2, 16, 5]
    %7 = transpose %6 {perm = [0, 2, 1]} : bf16[2, 5, 16]
    ret %4, %7
  }
}
