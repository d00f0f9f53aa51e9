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
