module @contract {
  weight @w : f32[64, 32] = splat(0.125)
  weight @panels : f32[2, 64, 16] = splat(0.125)
  weight @scale : f32[32] = splat(1)
  graph @main(%x: f32[B, 64], %axes: i64[1]) -> (f32[B, 32], f32[B, 1], f32[], f32[B, 32], f32[B, 32], f32[B, 32]) {
    %0 = matmul %x, @w : f32[B, 32]
    %1 = matmul @w, %x {transpose_a, transpose_b} : f32[32, B]
    %2 = matmul_panels %x, @panels {columns = 32, tile = [6, 16]} : f32[B, 32]
    %3 = reduce %0 {op = logsumexp, axes = [1], keep} : f32[B, 1]
    %4 = reduce %0 : f32[]
    %5 = softmax %0 {axis = 1} : f32[B, 32]
    %6 = softmax %2 {axis = 1, log} : f32[B, 32]
    %7 = layer_norm %5, @scale, @scale {axis = 1, epsilon = 1e-05} : f32[B, 32]
    %8 = layer_norm %6 {axis = 1, epsilon = 1e-12} : f32[B, 32]
    %9 = cumsum %8 {axis = 0, exclusive, reverse = false} : f32[B, 32]
    ret %0, %3, %4, %7, %8, %9
  }
}
