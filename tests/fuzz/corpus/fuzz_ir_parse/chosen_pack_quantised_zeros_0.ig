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
