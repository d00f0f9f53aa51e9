module @m {
  weight @t : f32[10, 4] = splat(1)
  graph @main(%a: i64[N], %ao: i64[B], %b: i64[M], %bo: i64[B]) -> (f32[B, 4], f32[B, 4]) {
    %0, %1 = fused @t, %a, %ao, @t, %b, %bo {family = "bag"} : f32[B, 4], f32[B, 4] (%2: f32[10, 4], %3: i64[N], %4: i64[B], %5: f32[10, 4], %6: i64[M], %7: i64[B]) {
      %8, %9 = bag %2, %3, %4, %5, %6, %7 {operands = [1, 1], pool = [sum, sum]} : f32[B, 4], f32[B, 4]
      yield %8, %9
    }
    ret %0, %1
  }
}
