# fuse: a region grows from its anchor through elementwise ops; the anchor's region is joined.
# run: fuse
module @m {
  weight @w : f32[2, 5, 16] = splat(0.5)
  weight @b : f32[32] = splat(0.25)
  graph @main(%x: f32[B, 5], %y: f32[B, 32]) -> (f32[B, 32], f32[B, 32]) {
    %0 = matmul_panels %x, @w {columns = 32} : f32[B, 32]
    %1 = add %0, @b : f32[B, 32]
    %2 = neg %y : f32[B, 32]
    %3 = mul %1, %2 : f32[B, 32]
    %4 = const {value = 2} : f32[]
    %5 = mul %3, %4 : f32[B, 32]
    %6 = relu %5 : f32[B, 32]
    %7 = exp %5 : f32[B, 32]
    ret %6, %7
  }
}
# expect:
module @m {
  weight @w : f32[2, 5, 16] = splat(0.5)
  weight @b : f32[32] = splat(0.25)
  graph @main(%x: f32[B, 5], %y: f32[B, 32]) -> (f32[B, 32], f32[B, 32]) {
    %0 = const {value = 2} : f32[]
    %1 = fused %x, @w, @b, %y {family = "gemm"} : f32[B, 32] (%2: f32[B, 5], %3: f32[2, 5, 16], %4: f32[32], %5: f32[B, 32]) {
      %6 = matmul_panels %2, %3 {columns = 32} : f32[B, 32]
      %7 = add %6, %4 : f32[B, 32]
      %8 = neg %5 : f32[B, 32]
      %9 = mul %7, %8 : f32[B, 32]
      %10 = const {value = 2} : f32[]
      %11 = mul %9, %10 : f32[B, 32]
      yield %11
    }
    %12 = fused %1 {family = "map"} : f32[B, 32] (%13: f32[B, 32]) {
      %14 = relu %13 : f32[B, 32]
      yield %14
    }
    %15 = fused %1 {family = "map"} : f32[B, 32] (%16: f32[B, 32]) {
      %17 = exp %16 : f32[B, 32]
      yield %17
    }
    ret %12, %15
  }
}
