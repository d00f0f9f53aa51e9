# Layers of dequantised bytes: between two products there are bytes, nothing in f32.
# run: recognise_integer,dce,(decompose,infer,canonicalise,fold,cse,dce)*,pack,(dequantise,infer,canonicalise,fold,cse,dce)*,sink,fuse
# target: cpu:v3
module @m {
  weight @w : i8[64, 32] = splat(3)
  weight @u : i8[32, 16] = splat(-5)
  weight @s : f32[32] = splat(0.5)
  weight @b : f32[32] = splat(2)
  graph @main(%x: u8[B, 64]) -> (u8[B, 16] "y") {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = dequantize %x, %0, %1 : f32[B, 64]
    %3 = dequantize @w, @s {axis = 1} : f32[64, 32]
    %4 = matmul %2, %3 : f32[B, 32]
    %5 = add %4, @b : f32[B, 32]
    %6 = relu %5 : f32[B, 32]
    %7 = const {value = 4} : f32[]
    %8 = const {value = 0} : u8[]
    %9 = quantize %6, %7, %8 {to = u8} : u8[B, 32]
    %10 = dequantize %9, %7, %8 : f32[B, 32]
    %11 = dequantize @u, %0 : f32[32, 16]
    %12 = matmul %10, %11 : f32[B, 16]
    %13 = quantize %12, %7, %1 {to = u8} : u8[B, 16]
    ret %13
  }
}
# expect:
module @m {
  weight @w : i8[64, 32] = splat(3)
  weight @u : i8[32, 16] = splat(-5)
  weight @s : f32[32] = splat(0.5)
  weight @b : f32[32] = splat(2)
  weight @w.quads.t.less0 : i8[2, 16, 16, 4] = recipe(0)
  weight @w.sums128.t.less0 : i32[32] = recipe(1)
  weight @u.quads.t.less0 : i8[1, 8, 16, 4] = recipe(2)
  graph @main(%x: u8[B, 64]) -> (u8[B, 16] "y") {
    %0 = const {value = [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125]} : f32[32]
    %1 = const {value = 4} : f32[]
    %2 = const {value = 0} : f32[]
    %3 = fused %x, @w.quads.t.less0, @w.sums128.t.less0, %0, @b {family = "gemm"} : u8[B, 32] (%4: u8[B, 64], %5: i8[2, 16, 16, 4], %6: i32[32], %7: f32[32], %8: f32[32]) {
      %9 = matmul_quads %4, %5 {columns = 32, chain = 4} : i32[B, 32]
      %10 = sub %9, %6 : i32[B, 32]
      %11 = cast %10 {to = f32} : f32[B, 32]
      %12 = mul %11, %7 : f32[B, 32]
      %13 = add %12, %8 : f32[B, 32]
      %14 = relu %13 : f32[B, 32]
      %15 = const {value = 4} : f32[]
      %16 = div_round %14, %15 : f32[B, 32]
      %17 = const {value = 0} : f32[]
      %18 = add %16, %17 : f32[B, 32]
      %19 = cast %18 {to = u8} : u8[B, 32]
      yield %19
    }
    %20 = const {value = 128} : f32[]
    %21 = fused %3, @u.quads.t.less0 {family = "gemm"} : u8[B, 16] (%22: u8[B, 32], %23: i8[1, 8, 16, 4]) {
      %24 = matmul_quads %22, %23 {columns = 16, chain = 4} : i32[B, 16]
      %25 = cast %24 {to = f32} : f32[B, 16]
      %26 = const {value = 4} : f32[]
      %27 = div_round %25, %26 : f32[B, 16]
      %28 = const {value = 128} : f32[]
      %29 = add %27, %28 : f32[B, 16]
      %30 = cast %29 {to = u8} : u8[B, 16]
      yield %30
    }
    ret %21
  }
  private graph @weights() -> (i8[2, 16, 16, 4], i32[32], i8[1, 8, 16, 4]) {
    %0 = cast @w {to = i32} : i32[64, 32]
    %1 = transpose %0 {perm = [1, 0]} : i32[32, 64]
    %2 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[32]
    %3 = reshape %2 {to = [32, 1]} : i32[32, 1]
    %4 = sub %1, %3 : i32[32, 64]
    %5 = cast %4 {to = i8} : i8[32, 64]
    %6 = const {value = 0} : i8[]
    %7 = pad %5, %6 {before = [0, 0], after = [0, 0]} : i8[32, 64]
    %8 = reshape %7 {to = [2, 16, 16, 4]} : i8[2, 16, 16, 4]
    %9 = transpose %8 {perm = [0, 2, 1, 3]} : i8[2, 16, 16, 4]
    %10 = cast @w {to = i32} : i32[64, 32]
    %11 = transpose %10 {perm = [1, 0]} : i32[32, 64]
    %12 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[32]
    %13 = reshape %12 {to = [32, 1]} : i32[32, 1]
    %14 = sub %11, %13 : i32[32, 64]
    %15 = reduce %14 {axes = [1]} : i32[32]
    %16 = const {value = 128} : i32[]
    %17 = mul %15, %16 : i32[32]
    %18 = cast @u {to = i32} : i32[32, 16]
    %19 = transpose %18 {perm = [1, 0]} : i32[16, 32]
    %20 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[16]
    %21 = reshape %20 {to = [16, 1]} : i32[16, 1]
    %22 = sub %19, %21 : i32[16, 32]
    %23 = cast %22 {to = i8} : i8[16, 32]
    %24 = const {value = 0} : i8[]
    %25 = pad %23, %24 {before = [0, 0], after = [0, 0]} : i8[16, 32]
    %26 = reshape %25 {to = [1, 16, 8, 4]} : i8[1, 16, 8, 4]
    %27 = transpose %26 {perm = [0, 2, 1, 3]} : i8[1, 8, 16, 4]
    ret %9, %17, %27
  }
}
