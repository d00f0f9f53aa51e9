module @index {
  weight @w : f32[10, 4] = splat(1)
  graph @main(%i: i64[N, 2], %x: f32[B, 8], %k: i64[B, 3], %j: i64[M, 1]) -> (f32[N, 2, 4], f32[B, 3], f32[B, 8], f32[M, 8]) {
    %0 = gather @w, %i {axis = 0, negative = error} : f32[N, 2, 4]
    %1 = gather_elements %x, %k {axis = 1} : f32[B, 3]
    %2 = scatter_elements %x, %k, %1 {axis = 1} : f32[B, 8]
    %3 = gather_nd %x, %j {batch = 0} : f32[M, 8]
    ret %0, %1, %2, %3
  }
}
