# ---- integer ----
# recognise_integer: scales of columns, whatever is transposed; a scale of rows of K, one of
# zero, a computed one, and sums that 32 bits may not hold stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  weight @l : i8[40000, 2] = splat(3)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5]) -> (f32[B, 20], f32[A, B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = dequantize %x, %0, %1 : f32[B, 5]
    %3 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = const {value = [0.5]} : f32[1, 1]
    %6 = dequantize %y, %0 : f32[A, B, 5]
    %7 = dequantize @u, %5, %1 : f32[20, 5]
    %8 = transpose %7 {perm = [1, 0]} : f32[5, 20]
    %9 = matmul %6, %8 : f32[A, B, 20]
    ret %4, %9
  }
  graph @stays(%x: u8[B, 5], %z: u8[B, 40000], %c: f32[]) -> (f32[B, 20], f32[B, 20], f32[B, 20], f32[B, 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 0} : f32[]
    %2 = dequantize %x, %0 : f32[B, 5]
    %3 = dequantize @w, @r {axis = 0} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = dequantize @w, %1 : f32[5, 20]
    %6 = matmul %2, %5 : f32[B, 20]
    %7 = dequantize %x, %c : f32[B, 5]
    %8 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %9 = matmul %7, %8 : f32[B, 20]
    %10 = dequantize %z, %0 : f32[B, 40000]
    %11 = dequantize @l, %0 : f32[40000, 2]
    %12 = matmul %10, %11 : f32[B, 2]
    ret %4, %6, %9, %12
  }
}
# expect:
module @m {
  weight @w : i8[5, 20] = splat(3)
  weight @u : u8[20, 5] = splat(250)
  weight @s : f32[20] = splat(0.5)
  weight @r : f32[5] = splat(0.5)
  weight @l : i8[40000, 2] = splat(3)
  graph @main(%x: u8[B, 5], %y: i8[A, B, 5]) -> (f32[B, 20], f32[A, B, 20]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = matmul_integer %x, @w, %1 : i32[B, 20]
    %3 = mul %0, @s : f32[20]
    %4 = dequantize %2, %3 {axis = 1} : f32[B, 20]
    %5 = const {value = [0.5]} : f32[1, 1]
    %6 = transpose @u {perm = [1, 0]} : u8[5, 20]
    %7 = const {value = 0} : i8[]
    %8 = matmul_integer %y, %6, %7, %1 : i32[A, B, 20]
    %9 = reshape %5 {to = []} : f32[]
    %10 = mul %0, %9 : f32[]
    %11 = dequantize %8, %10 : f32[A, B, 20]
    ret %4, %11
  }
  graph @stays(%x: u8[B, 5], %z: u8[B, 40000], %c: f32[]) -> (f32[B, 20], f32[B, 20], f32[B, 20], f32[B, 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 0} : f32[]
    %2 = dequantize %x, %0 : f32[B, 5]
    %3 = dequantize @w, @r {axis = 0} : f32[5, 20]
    %4 = matmul %2, %3 : f32[B, 20]
    %5 = dequantize @w, %1 : f32[5, 20]
    %6 = matmul %2, %5 : f32[B, 20]
    %7 = dequantize %x, %c : f32[B, 5]
    %8 = dequantize @w, @s {axis = 1} : f32[5, 20]
    %9 = matmul %7, %8 : f32[B, 20]
    %10 = dequantize %z, %0 : f32[B, 40000]
    %11 = dequantize @l, %0 : f32[40000, 2]
    %12 = matmul %10, %11 : f32[B, 2]
    ret %4, %6, %9, %12
  }
}
# ---- integer_attention ----
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
# ---- integer_computed ----
# recognise_integer: both factors computed, each of one scale; of a depth that nobody knows
# sums take 64 bits.  Two scales, and a first factor that is turned, stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  symbol L {min = 1, max = 33025}
  graph @main(%x: u8[B, 3, 8], %y: i8[B, 8, 5], %z: i8[5, 8], %o: u8[B, 3, K], %p: u8[B, K, 5], %u: u8[3, L], %v: u8[L, 5]) -> (f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 8, 5], f32[3, 5]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 3} : u8[]
    %2 = const {value = -7} : i8[]
    %3 = const {value = [0.5, 0.25, 0.125, 0.5, 0.5]} : f32[5]
    %4 = dequantize %x, %0, %1 : f32[B, 3, 8]
    %5 = dequantize %y, %0 : f32[B, 8, 5]
    %6 = matmul %4, %5 : f32[B, 3, 5]
    %7 = dequantize %z, %0, %2 : f32[5, 8]
    %8 = matmul %4, %7 {transpose_b} : f32[B, 3, 5]
    %9 = dequantize %y, %3 {axis = 2} : f32[B, 8, 5]
    %10 = matmul %4, %9 : f32[B, 3, 5]
    %11 = dequantize %o, %0 : f32[B, 3, K]
    %12 = dequantize %p, %0 : f32[B, K, 5]
    %13 = matmul %11, %12 : f32[B, 3, 5]
    %14 = matmul %4, %6 {transpose_a} : f32[B, 8, 5]
    %15 = dequantize %u, %0 : f32[3, L]
    %16 = dequantize %v, %0 : f32[L, 5]
    %17 = matmul %15, %16 : f32[3, 5]
    ret %6, %8, %10, %13, %14, %17
  }
}
# expect:
module @m {
  symbol L {min = 1, max = 33025}
  graph @main(
      %x: u8[B, 3, 8],
      %y: i8[B, 8, 5],
      %z: i8[5, 8],
      %o: u8[B, 3, K],
      %p: u8[B, K, 5],
      %u: u8[3, L],
      %v: u8[L, 5]) -> (f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 3, 5], f32[B, 8, 5], f32[3, 5]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 3} : u8[]
    %2 = const {value = -7} : i8[]
    %3 = const {value = [0.5, 0.25, 0.125, 0.5, 0.5]} : f32[5]
    %4 = dequantize %x, %0, %1 : f32[B, 3, 8]
    %5 = const {value = 0} : i8[]
    %6 = matmul_integer %x, %y, %1, %5 : i32[B, 3, 5]
    %7 = mul %0, %0 : f32[]
    %8 = dequantize %6, %7 : f32[B, 3, 5]
    %9 = transpose %z {perm = [1, 0]} : i8[8, 5]
    %10 = matmul_integer %x, %9, %1, %2 : i32[B, 3, 5]
    %11 = mul %0, %0 : f32[]
    %12 = dequantize %10, %11 : f32[B, 3, 5]
    %13 = dequantize %y, %3 {axis = 2} : f32[B, 8, 5]
    %14 = matmul %4, %13 : f32[B, 3, 5]
    %15 = const {value = 0} : u8[]
    %16 = const {value = 0} : u8[]
    guard le(K, 33554432) "a product of bytes has at most 2^25 terms"
    %17 = matmul_integer %o, %p, %15, %16 {wide} : i64[B, 3, 5]
    %18 = mul %0, %0 : f32[]
    %19 = cast %17 {to = f32} : f32[B, 3, 5]
    %20 = mul %19, %18 : f32[B, 3, 5]
    %21 = matmul %4, %8 {transpose_a} : f32[B, 8, 5]
    %22 = const {value = 0} : u8[]
    %23 = const {value = 0} : u8[]
    %24 = matmul_integer %u, %v, %22, %23 : i32[3, 5]
    %25 = mul %0, %0 : f32[]
    %26 = dequantize %24, %25 : f32[3, 5]
    ret %8, %12, %14, %20, %21, %26
  }
}
# ---- integer_copies ----
# recognise_integer: what moves or chooses dequantised bytes works on the bytes, and what
# is quantised as it was before are those bytes; parts of a concat are quantised each for
# itself.  Other scales, averages, windows that may see nothing, and computed scales stay,
# and so do factors that do not undo the scale for each byte.
# run: recognise_integer,dce
module @m {
  graph @main(%x: u8[B, 4, 8, 8], %y: u8[B, 2, 4, 4]) -> (u8[B, 4, 4, 4], u8[B, 64], u8[B, 6, 4, 4]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %4 = pool %3 {op = max, kernel = [3, 3], strides = [2, 2], before = [1, 1], after = [0, 0]} : f32[B, 4, 4, 4]
    %5 = quantize %4, %0, %1 {to = u8} : u8[B, 4, 4, 4]
    %6 = reshape %4 {to = [B, 64]} : f32[B, 64]
    %7 = quantize %6, %0, %1 {to = u8} : u8[B, 64]
    %8 = dequantize %y, %2, %1 : f32[B, 2, 4, 4]
    %9 = concat %4, %8 {axis = 1} : f32[B, 6, 4, 4]
    %10 = quantize %9, %2, %1 {to = u8} : u8[B, 6, 4, 4]
    ret %5, %7, %10
  }
  graph @stays(%x: u8[B, 4, 8, 8], %s: f32[]) -> (f32[B, 4, 7, 7], f32[B, 4, 8, 8], u8[B, 4, 8, 8], u8[B, 4, 64], f32[B, 4, 6, 6]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = const {value = -0.5} : f32[]
    %4 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %5 = pool %4 {op = average, kernel = [2, 2]} : f32[B, 4, 7, 7]
    %6 = dequantize %x, %3, %1 : f32[B, 4, 8, 8]
    %7 = pool %6 {op = max, kernel = [1, 1]} : f32[B, 4, 8, 8]
    %8 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 8, 8]
    %9 = dequantize %x, %s, %1 : f32[B, 4, 8, 8]
    %10 = reshape %9 {to = [B, 4, 64]} : f32[B, 4, 64]
    %11 = quantize %10, %s, %1 {to = u8} : u8[B, 4, 64]
    %12 = pool %4 {op = max, kernel = [3, 3], dilations = [2, 2], before = [1, 1], after = [1, 1]} : f32[B, 4, 6, 6]
    ret %5, %7, %8, %11, %12
  }
  graph @by_factor(%x: u8[B, 4], %y: u8[B, 4]) -> (u8[B, 4], u8[B, 4], u8[B, 4]) {
    %0 = const {value = 0.017} : f32[]
    %1 = const {value = 58.823532} : f32[]
    %2 = const {value = 59} : f32[]
    %3 = const {value = 7} : u8[]
    %4 = dequantize %x, %0, %3 : f32[B, 4]
    %5 = quantize %4, %1, %3 {to = u8, rounding = factor} : u8[B, 4]
    %6 = quantize %4, %2, %3 {to = u8, rounding = factor} : u8[B, 4]
    %7 = quantize %4, %0, %3 {to = u8, rounding = offset} : u8[B, 4]
    ret %5, %6, %7
  }
  graph @rounded_up(%x: u8[B, 4, 8, 7]) -> (u8[B, 4, 4, 3]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 4, 8, 7]
    %2 = pool %1 {op = max, kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [0, 0], ceil_mode} : f32[B, 4, 4, 3]
    %3 = quantize %2, %0 {to = u8} : u8[B, 4, 4, 3]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: u8[B, 4, 8, 8], %y: u8[B, 2, 4, 4]) -> (u8[B, 4, 4, 4], u8[B, 64], u8[B, 6, 4, 4]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = pool %x {op = max, kernel = [3, 3], strides = [2, 2], before = [1, 1], after = [0, 0]} : u8[B, 4, 4, 4]
    %4 = dequantize %3, %0, %1 : f32[B, 4, 4, 4]
    %5 = reshape %3 {to = [B, 64]} : u8[B, 64]
    %6 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 4, 4]
    %7 = concat %6, %y {axis = 1} : u8[B, 6, 4, 4]
    ret %3, %5, %7
  }
  graph @stays(%x: u8[B, 4, 8, 8], %s: f32[]) -> (f32[B, 4, 7, 7], f32[B, 4, 8, 8], u8[B, 4, 8, 8], u8[B, 4, 64], f32[B, 4, 6, 6]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = const {value = -0.5} : f32[]
    %4 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %5 = pool %4 {op = average, kernel = [2, 2]} : f32[B, 4, 7, 7]
    %6 = dequantize %x, %3, %1 : f32[B, 4, 8, 8]
    %7 = pool %6 {op = max, kernel = [1, 1]} : f32[B, 4, 8, 8]
    %8 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 8, 8]
    %9 = dequantize %x, %s, %1 : f32[B, 4, 8, 8]
    %10 = reshape %9 {to = [B, 4, 64]} : f32[B, 4, 64]
    %11 = quantize %10, %s, %1 {to = u8} : u8[B, 4, 64]
    %12 = pool %4 {op = max, kernel = [3, 3], dilations = [2, 2], before = [1, 1], after = [1, 1]} : f32[B, 4, 6, 6]
    ret %5, %7, %8, %11, %12
  }
  graph @by_factor(%x: u8[B, 4], %y: u8[B, 4]) -> (u8[B, 4], u8[B, 4], u8[B, 4]) {
    %0 = const {value = 0.017} : f32[]
    %1 = const {value = 59} : f32[]
    %2 = const {value = 7} : u8[]
    %3 = dequantize %x, %0, %2 : f32[B, 4]
    %4 = quantize %3, %1, %2 {to = u8, rounding = factor} : u8[B, 4]
    %5 = quantize %3, %0, %2 {to = u8, rounding = offset} : u8[B, 4]
    ret %x, %4, %5
  }
  graph @rounded_up(%x: u8[B, 4, 8, 7]) -> (u8[B, 4, 4, 3]) {
    %0 = pool %x {op = max, kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [0, 0], ceil_mode} : u8[B, 4, 4, 3]
    ret %0
  }
}
# ---- integer_windows ----
# recognise_integer: convolutions of dequantised bytes, with scales and zero points of
# outputs; scales of input channels, computed scales, and weights that are no constant stay.
# run: recognise_integer,dce
# within: 1e-5 products are rounded once
module @m {
  weight @w : i8[4, 3, 3, 3] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @s : f32[4] = splat(0.5)
  weight @r : f32[3, 1, 1] = splat(0.25)
  weight @b : f32[4] = splat(2)
  graph @main(%x: u8[B, 3, H, 8], %y: i8[B, 3, L]) -> (f32[B, 4, H, 8], f32[B, 3, L - 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = dequantize %x, %0, %1 : f32[B, 3, H, 8]
    %3 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %4 = conv %2, %3, @b {before = [1, 1], after = [1, 1]} : f32[B, 4, H, 8]
    %5 = const {value = [128, 120, 110]} : u8[3, 1, 1]
    %6 = dequantize %y, %0 : f32[B, 3, L]
    %7 = dequantize @d, @r, %5 : f32[3, 1, 3]
    %8 = conv %6, %7 {group = 3} : f32[B, 3, L - 2]
    ret %4, %8
  }
  graph @stays(%x: u8[B, 3, 8, 8], %c: f32[], %v: i8[4, 3, 3, 3]) -> (f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 3, 10, 10]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 3, 8, 8]
    %2 = const {value = [0.25, 0.5, 1.0]} : f32[3]
    %3 = dequantize @w, %2 {axis = 1} : f32[4, 3, 3, 3]
    %4 = conv %1, %3 : f32[B, 4, 6, 6]
    %5 = dequantize %x, %c : f32[B, 3, 8, 8]
    %6 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %7 = conv %5, %6 : f32[B, 4, 6, 6]
    %8 = dequantize %v, %0 : f32[4, 3, 3, 3]
    %9 = conv %1, %8 : f32[B, 4, 6, 6]
    %10 = dequantize @w, %0 : f32[4, 3, 3, 3]
    %11 = pad %1 {before = [0, 0, 0, 0], after = [0, 1, 0, 0]} : f32[B, 4, 8, 8]
    %12 = quantize %11, %0 {to = u8} : u8[B, 4, 8, 8]
    %13 = dequantize %12, %0 : f32[B, 4, 8, 8]
    %14 = conv %13, %10 {transposed} : f32[B, 3, 10, 10]
    ret %4, %7, %9, %14
  }
}
# expect:
module @m {
  weight @w : i8[4, 3, 3, 3] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @s : f32[4] = splat(0.5)
  weight @r : f32[3, 1, 1] = splat(0.25)
  weight @b : f32[4] = splat(2)
  graph @main(%x: u8[B, 3, H, 8], %y: i8[B, 3, L]) -> (f32[B, 4, H, 8], f32[B, 3, L - 2]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = conv_integer %x, @w, %1 {before = [1, 1], after = [1, 1]} : i32[B, 4, H, 8]
    %3 = mul %0, @s : f32[4]
    %4 = dequantize %2, %3 {axis = 1} : f32[B, 4, H, 8]
    %5 = reshape @b {to = [1, 4, 1, 1]} : f32[1, 4, 1, 1]
    %6 = add %4, %5 : f32[B, 4, H, 8]
    %7 = const {value = [128, 120, 110]} : u8[3, 1, 1]
    %8 = const {value = 0} : i8[]
    %9 = reshape %7 {to = [3]} : u8[3]
    %10 = reshape %9 {to = [3, 1, 1]} : u8[3, 1, 1]
    %11 = conv_integer %y, @d, %8, %10 {group = 3} : i32[B, 3, L - 2]
    %12 = reshape @r {to = [3]} : f32[3]
    %13 = mul %0, %12 : f32[3]
    %14 = dequantize %11, %13 {axis = 1} : f32[B, 3, L - 2]
    ret %6, %14
  }
  graph @stays(%x: u8[B, 3, 8, 8], %c: f32[], %v: i8[4, 3, 3, 3]) -> (f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 4, 6, 6], f32[B, 3, 10, 10]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 3, 8, 8]
    %2 = const {value = [0.25, 0.5, 1]} : f32[3]
    %3 = dequantize @w, %2 {axis = 1} : f32[4, 3, 3, 3]
    %4 = conv %1, %3 : f32[B, 4, 6, 6]
    %5 = dequantize %x, %c : f32[B, 3, 8, 8]
    %6 = dequantize @w, @s {axis = 0} : f32[4, 3, 3, 3]
    %7 = conv %5, %6 : f32[B, 4, 6, 6]
    %8 = dequantize %v, %0 : f32[4, 3, 3, 3]
    %9 = conv %1, %8 : f32[B, 4, 6, 6]
    %10 = dequantize @w, %0 : f32[4, 3, 3, 3]
    %11 = pad %1 {before = [0, 0, 0, 0], after = [0, 1, 0, 0]} : f32[B, 4, 8, 8]
    %12 = quantize %11, %0 {to = u8} : u8[B, 4, 8, 8]
    %13 = dequantize %12, %0 : f32[B, 4, 8, 8]
    %14 = conv %13, %10 {transposed} : f32[B, 3, 10, 10]
    ret %4, %7, %9, %14
  }
}
