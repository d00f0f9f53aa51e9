# fuse: what several ops make of a product joins it where they come together; not when one of them is wanted elsewhere.
# run: fuse
module @m {
  weight @w : f32[2, 5, 16] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[B, 32]) -> (f32[B, 32], f32[B, 32], f32[B, 32]) {
    %0 = matmul_panels %x, @w {columns = 32} : f32[B, 32]
    %1 = sigmoid %0 : f32[B, 32]
    %2 = neg %y : f32[B, 32]
    %3 = mul %0, %1 : f32[B, 32]
    %4 = add %3, %2 : f32[B, 32]
    %5 = matmul_panels %x, @w {columns = 32} : f32[B, 32]
    %6 = sigmoid %5 : f32[B, 32]
    %7 = mul %5, %6 : f32[B, 32]
    ret %4, %6, %7
  }
}
# expect:
module @m {
  weight @w : f32[2, 5, 16] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[B, 32]) -> (f32[B, 32], f32[B, 32], f32[B, 32]) {
    %0 = fused %x, @w, %y {family = "gemm"} : f32[B, 32] (%1: f32[B, 5], %2: f32[2, 5, 16], %3: f32[B, 32]) {
      %4 = matmul_panels %1, %2 {columns = 32} : f32[B, 32]
      %5 = sigmoid %4 : f32[B, 32]
      %6 = mul %4, %5 : f32[B, 32]
      %7 = neg %3 : f32[B, 32]
      %8 = add %6, %7 : f32[B, 32]
      yield %8
    }
    %9 = fused %x, @w {family = "gemm"} : f32[B, 32] (%10: f32[B, 5], %11: f32[2, 5, 16]) {
      %12 = matmul_panels %10, %11 {columns = 32} : f32[B, 32]
      yield %12
    }
    %13 = fused %9 {family = "map"} : f32[B, 32] (%14: f32[B, 32]) {
      %15 = sigmoid %14 : f32[B, 32]
      yield %15
    }
    %16 = fused %9, %13 {family = "map"} : f32[B, 32] (%17: f32[B, 32], %18: f32[B, 32]) {
      %19 = mul %17, %18 : f32[B, 32]
      yield %19
    }
    ret %0, %13, %16
  }
}
