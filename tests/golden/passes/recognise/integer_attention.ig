# Attention of dequantised bytes: queries meet keys, and weights values, in integers.
# run: recognise_integer,dce,(decompose,infer,canonicalise,fold,cse,dce)*,pack,(dequantise,infer,canonicalise,fold,cse,dce)*,sink,fuse
# target: cpu:v4-vnni
module @m {
  graph @main(%q: u8[B, 16, 4, 32], %k: u8[B, 16, 4, 32], %v: i8[B, 16, 4, 32]) -> (u8[B, 4, 16, 32] "y") {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0} : u8[]
    %3 = dequantize %q, %0, %1 : f32[B, 16, 4, 32]
    %4 = dequantize %k, %0, %1 : f32[B, 16, 4, 32]
    %5 = dequantize %v, %0 : f32[B, 16, 4, 32]
    %6 = transpose %3 {perm = [0, 2, 1, 3]} : f32[B, 4, 16, 32]
    %7 = transpose %4 {perm = [0, 2, 3, 1]} : f32[B, 4, 32, 16]
    %8 = transpose %5 {perm = [0, 2, 1, 3]} : f32[B, 4, 16, 32]
    %9 = matmul %6, %7 : f32[B, 4, 16, 16]
    %10 = softmax %9 {axis = 3} : f32[B, 4, 16, 16]
    %11 = const {value = 0.00390625} : f32[]
    %12 = quantize %10, %11, %2 {to = u8} : u8[B, 4, 16, 16]
    %13 = dequantize %12, %11, %2 : f32[B, 4, 16, 16]
    %14 = matmul %13, %8 : f32[B, 4, 16, 32]
    %15 = quantize %14, %0, %1 {to = u8} : u8[B, 4, 16, 32]
    ret %15
  }
}
# expect:
module @m {
  graph @main(%q: u8[B, 16, 4, 32], %k: u8[B, 16, 4, 32], %v: i8[B, 16, 4, 32]) -> (u8[B, 4, 16, 32] "y") {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = transpose %q {perm = [0, 2, 1, 3]} : u8[B, 4, 16, 32]
    %3 = transpose %k {perm = [0, 2, 3, 1]} : u8[B, 4, 32, 16]
    %4 = transpose %v {perm = [0, 2, 1, 3]} : i8[B, 4, 16, 32]
    %5 = const {value = 0.0625} : f32[]
    %6 = fused %2, %3, %1, %1 {family = "dot"} : f32[B, 4, 16, 16] (%7: u8[B, 4, 16, 32], %8: u8[B, 4, 32, 16], %9: u8[], %10: u8[]) {
      %11 = matmul_integer %7, %8, %9, %10 : i32[B, 4, 16, 16]
      %12 = cast %11 {to = f32} : f32[B, 4, 16, 16]
      %13 = const {value = 0.0625} : f32[]
      %14 = mul %12, %13 : f32[B, 4, 16, 16]
      yield %14
    }
    %15 = fused %6 {family = "softmax"} : f32[B, 4, 16, 16] (%16: f32[B, 4, 16, 16]) {
      %17 = softmax %16 {axis = 3} : f32[B, 4, 16, 16]
      yield %17
    }
    %18 = const {value = 0.00390625} : f32[]
    %19 = const {value = 0} : f32[]
    %20 = fused %15 {family = "map"} : u8[B, 4, 16, 16] (%21: f32[B, 4, 16, 16]) {
      %22 = const {value = 0.00390625} : f32[]
      %23 = div_round %21, %22 : f32[B, 4, 16, 16]
      %24 = const {value = 0} : f32[]
      %25 = add %23, %24 : f32[B, 4, 16, 16]
      %26 = cast %25 {to = u8} : u8[B, 4, 16, 16]
      yield %26
    }
    %27 = const {value = 0.0009765625} : f32[]
    %28 = const {value = 128} : f32[]
    %29 = fused %20, %4 {family = "dot"} : u8[B, 4, 16, 32] (%30: u8[B, 4, 16, 16], %31: i8[B, 4, 16, 32]) {
      %32 = matmul_integer %30, %31 : i32[B, 4, 16, 32]
      %33 = cast %32 {to = f32} : f32[B, 4, 16, 32]
      %34 = const {value = 0.0009765625} : f32[]
      %35 = mul %33, %34 : f32[B, 4, 16, 32]
      %36 = const {value = 0.25} : f32[]
      %37 = div_round %35, %36 : f32[B, 4, 16, 32]
      %38 = const {value = 128} : f32[]
      %39 = add %37, %38 : f32[B, 4, 16, 32]
      %40 = cast %39 {to = u8} : u8[B, 4, 16, 32]
      yield %40
    }
    ret %29
  }
}
