# ---- layers ----
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
# ---- open_chains ----
# pack: chains of 16 bits are cut by a depth that the kernel knows, so that rows whose
# extent is open in their own type have none.
# not run: C is drawn and must be 8
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[8, 16] = splat(3)
  graph @main(%x: u8[B, 8], %y: u8[B, C]) -> (i32[B, 16], i32[B, 16]) {
    %0 = matmul_integer %x, @w : i32[B, 16]
    %1 = matmul_integer %y, @w : i32[B, 16]
    ret %0, %1
  }
}
# expect:
module @m {
  weight @w : i8[8, 16] = splat(3)
  weight @w.quads.t.less0 : i8[1, 2, 16, 4] = recipe(0)
  graph @main(%x: u8[B, 8], %y: u8[B, C]) -> (i32[B, 16], i32[B, 16]) {
    %0 = matmul_quads %x, @w.quads.t.less0 {columns = 16, chain = 2} : i32[B, 16]
    %1 = matmul_quads %y, @w.quads.t.less0 {columns = 16} : i32[B, 16]
    ret %0, %1
  }
  private graph @weights() -> (i8[1, 2, 16, 4]) {
    %0 = cast @w {to = i32} : i32[8, 16]
    %1 = transpose %0 {perm = [1, 0]} : i32[16, 8]
    %2 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[16]
    %3 = reshape %2 {to = [16, 1]} : i32[16, 1]
    %4 = sub %1, %3 : i32[16, 8]
    %5 = cast %4 {to = i8} : i8[16, 8]
    %6 = const {value = 0} : i8[]
    %7 = pad %5, %6 {before = [0, 0], after = [0, 0]} : i8[16, 8]
    %8 = reshape %7 {to = [1, 16, 2, 4]} : i8[1, 16, 2, 4]
    %9 = transpose %8 {perm = [0, 2, 1, 3]} : i8[1, 2, 16, 4]
    ret %9
  }
}
# ---- pack_integer ----
# pack: products of 8-bit integers stay so; what zero points come to is known by column,
# but for a weight whose differences do not fit 8 bits; a product of two inputs becomes a
# matmul.
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5], %b: u8[5, 3], %z: i8[]) -> (i32[B, 20], i32[A, B, 20], i32[B, 20], i32[B, 3]) {
    %0 = matmul_integer %x, @w : i32[B, 20]
    %1 = transpose @u {perm = [1, 0]} : u8[5, 20]
    %2 = const {value = 128} : u8[]
    %3 = matmul_integer %y, %1, %z, %2 : i32[A, B, 20]
    %4 = const {value = 7} : u8[]
    %5 = const {value = 1} : u8[]
    %6 = matmul_integer %x, %1, %4, %5 : i32[B, 20]
    %7 = matmul_integer %x, %b : i32[B, 3]
    ret %0, %3, %6, %7
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  weight @w.quads.t.less0 : i8[2, 2, 16, 4] = recipe(0)
  weight @u.quads.less128 : i8[2, 2, 16, 4] = recipe(1)
  weight @u.sums1.less128 : i32[20] = recipe(2)
  weight @u.sums7.less1 : i32[20] = recipe(3)
  weight @ones.5 : i8[1, 2, 16, 4] = recipe(4)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5], %b: u8[5, 3], %z: i8[]) -> (i32[B, 20], i32[A, B, 20], i32[B, 20], i32[B, 3]) {
    %0 = matmul_quads %x, @w.quads.t.less0 {columns = 20, chain = 2} : i32[B, 20]
    %1 = const {value = 128} : u8[]
    %2 = bitcast %y {to = u8} : u8[A, B, 5]
    %3 = const {value = 128} : u8[]
    %4 = xor %2, %3 : u8[A, B, 5]
    %5 = reshape %4 {to = [A*B, 5]} : u8[A*B, 5]
    %6 = matmul_quads %5, @u.quads.less128 {columns = 20} : i32[A*B, 20]
    %7 = cast %z {to = i32} : i32[]
    %8 = const {value = 128} : i32[]
    %9 = add %7, %8 : i32[]
    %10 = mul @u.sums1.less128, %9 : i32[20]
    %11 = sub %6, %10 : i32[A*B, 20]
    %12 = reshape %11 {to = [A, B, 20]} : i32[A, B, 20]
    %13 = const {value = 7} : u8[]
    %14 = const {value = 1} : u8[]
    %15 = matmul_quads %x, @u.quads.less128 {columns = 20} : i32[B, 20]
    %16 = sub %15, @u.sums7.less1 : i32[B, 20]
    %17 = matmul_quads %x, @ones.5 {columns = 1} : i32[B, 1]
    %18 = const {value = [-127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127, -127]} : i32[20]
    %19 = mul %17, %18 : i32[B, 20]
    %20 = sub %16, %19 : i32[B, 20]
    %21 = matmul_integer %x, %b : i32[B, 3]
    ret %0, %12, %20, %21
  }
  private graph @weights() -> (i8[2, 2, 16, 4], i8[2, 2, 16, 4], i32[20], i32[20], i8[1, 2, 16, 4]) {
    %0 = cast @w {to = i32} : i32[5, 20]
    %1 = transpose %0 {perm = [1, 0]} : i32[20, 5]
    %2 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[20]
    %3 = reshape %2 {to = [20, 1]} : i32[20, 1]
    %4 = sub %1, %3 : i32[20, 5]
    %5 = cast %4 {to = i8} : i8[20, 5]
    %6 = const {value = 0} : i8[]
    %7 = pad %5, %6 {before = [0, 0], after = [12, 3]} : i8[32, 8]
    %8 = reshape %7 {to = [2, 16, 2, 4]} : i8[2, 16, 2, 4]
    %9 = transpose %8 {perm = [0, 2, 1, 3]} : i8[2, 2, 16, 4]
    %10 = cast @u {to = i32} : i32[20, 5]
    %11 = const {value = [128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128]} : i32[20]
    %12 = reshape %11 {to = [20, 1]} : i32[20, 1]
    %13 = sub %10, %12 : i32[20, 5]
    %14 = cast %13 {to = i8} : i8[20, 5]
    %15 = const {value = 0} : i8[]
    %16 = pad %14, %15 {before = [0, 0], after = [12, 3]} : i8[32, 8]
    %17 = reshape %16 {to = [2, 16, 2, 4]} : i8[2, 16, 2, 4]
    %18 = transpose %17 {perm = [0, 2, 1, 3]} : i8[2, 2, 16, 4]
    %19 = cast @u {to = i32} : i32[20, 5]
    %20 = const {value = [128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128]} : i32[20]
    %21 = reshape %20 {to = [20, 1]} : i32[20, 1]
    %22 = sub %19, %21 : i32[20, 5]
    %23 = reduce %22 {axes = [1]} : i32[20]
    %24 = const {value = 1} : i32[]
    %25 = mul %23, %24 : i32[20]
    %26 = cast @u {to = i32} : i32[20, 5]
    %27 = const {value = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]} : i32[20]
    %28 = reshape %27 {to = [20, 1]} : i32[20, 1]
    %29 = sub %26, %28 : i32[20, 5]
    %30 = reduce %29 {axes = [1]} : i32[20]
    %31 = const {value = 7} : i32[]
    %32 = mul %30, %31 : i32[20]
    %33 = const {value = 1} : i8[]
    %34 = expand %33 {to = [1, 2, 16, 4]} : i8[1, 2, 16, 4]
    ret %9, %18, %25, %32, %34
  }
}
