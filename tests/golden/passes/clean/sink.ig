# sink: elementwise ops behind a product's reshape go in front of it, with what feeds them alone; a view of other strides stays.
# run: sink,dce
module @m {
  weight @w : f32[1, 5, 16] = splat(0.5)
  weight @b : f32[16] = splat(0.25)
  graph @main(%x: f32[3*B, 5], %y: f32[B, 3, 16], %z: f32[B, 16, 3], %p: f32[3, 16]) -> (f32[B, 3, 16], f32[B, 3, 16], f32[B, 3, 16]) {
    %0 = matmul_panels %x, @w {columns = 16} : f32[3*B, 16]
    %1 = reshape %0 {to = [B, 3, 16]} : f32[B, 3, 16]
    %2 = add %1, @b : f32[B, 3, 16]
    %3 = const {value = 2} : f32[]
    %4 = mul %y, %3 : f32[B, 3, 16]
    %5 = mul %2, %4 : f32[B, 3, 16]
    %6 = transpose %z {perm = [0, 2, 1]} : f32[B, 3, 16]
    %7 = add %5, %6 : f32[B, 3, 16]
    %8 = add %5, %p : f32[B, 3, 16]
    ret %5, %7, %8
  }
}
# expect:
module @m {
  weight @w : f32[1, 5, 16] = splat(0.5)
  weight @b : f32[16] = splat(0.25)
  graph @main(%x: f32[3*B, 5], %y: f32[B, 3, 16], %z: f32[B, 16, 3], %p: f32[3, 16]) -> (f32[B, 3, 16], f32[B, 3, 16], f32[B, 3, 16]) {
    %0 = matmul_panels %x, @w {columns = 16} : f32[3*B, 16]
    %1 = add %0, @b : f32[3*B, 16]
    %2 = const {value = 2} : f32[]
    %3 = reshape %y {to = [3*B, 16]} : f32[3*B, 16]
    %4 = mul %3, %2 : f32[3*B, 16]
    %5 = mul %1, %4 : f32[3*B, 16]
    %6 = reshape %5 {to = [B, 3, 16]} : f32[B, 3, 16]
    %7 = transpose %z {perm = [0, 2, 1]} : f32[B, 3, 16]
    %8 = add %6, %7 : f32[B, 3, 16]
    %9 = add %6, %p : f32[B, 3, 16]
    ret %6, %8, %9
  }
}
