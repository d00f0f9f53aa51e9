# ---- decompose ----
# decompose: composites become what they are made of; windows lose their padding.
# decompose_conv: padding of a convolution becomes a pad.
# decompose_pool: an average becomes a sum that is divided; padding becomes a pad.
# decompose_padded_pool: padding stays with the pool (CPUs).
# run: decompose,dce
# target: cpu:v3
# within: 1e-4 a product in place of a quotient
# values: w plain
module @m {
  graph @main(%x: f32[N, 4, 8, 8], %w: f32[4, 4, 3, 3], %c: f32[4]) -> (f32[N, 4, 8, 8], f32[N, 4, 4, 4], f32[N, 4, 8, 8], f32[N, 4, 4, 4]) {
    %0 = conv %x, %w {before = [1, 1], after = [1, 1]} : f32[N, 4, 8, 8]
    %1 = pool %0 {op = average, kernel = [2, 2], strides = [2, 2]} : f32[N, 4, 4, 4]
    %2 = batch_norm %0, %c, %c, %c, %c {epsilon = 1e-05} : f32[N, 4, 8, 8]
    %3 = pool %0 {op = max, kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [0, 0], ceil_mode} : f32[N, 4, 4, 4]
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[N, 4, 8, 8], %w: f32[4, 4, 3, 3], %c: f32[4]) -> (f32[N, 4, 8, 8], f32[N, 4, 4, 4], f32[N, 4, 8, 8], f32[N, 4, 4, 4]) {
    %0 = pad %x {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[N, 4, 10, 10]
    %1 = conv %0, %w : f32[N, 4, 8, 8]
    %2 = pool %1 {op = sum, kernel = [2, 2], strides = [2, 2]} : f32[N, 4, 4, 4]
    %3 = const {value = 4} : f32[]
    %4 = div %2, %3 : f32[N, 4, 4, 4]
    %5 = const {value = 1e-05} : f32[]
    %6 = add %c, %5 : f32[4]
    %7 = sqrt %6 : f32[4]
    %8 = div %c, %7 : f32[4]
    %9 = mul %c, %8 : f32[4]
    %10 = sub %c, %9 : f32[4]
    %11 = reshape %8 {to = [4, 1, 1]} : f32[4, 1, 1]
    %12 = reshape %10 {to = [4, 1, 1]} : f32[4, 1, 1]
    %13 = mul %1, %11 : f32[N, 4, 8, 8]
    %14 = add %13, %12 : f32[N, 4, 8, 8]
    %15 = pool %1 {kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [1, 1]} : f32[N, 4, 4, 4]
    ret %1, %4, %14, %15
  }
}
# ---- decompose_jagged ----
# decompose: GPUs have no kernel for rows of parts; CPUs do (next case).
# run: decompose,dce
# target: cuda:sm_90a
# values: o offsets x
module @m {
  graph @main(%x: f32[T, 8], %o: i32[E]) -> (f32[T, 8]) {
    %0 = jagged_to_padded %x, %o {length = 5, padding = -1} : f32[E - 1, 5, 8]
    %1 = padded_to_jagged %0, %o {rows = T} : f32[T, 8]
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[T, 8], %o: i32[E]) -> (f32[T, 8]) {
    %0 = cast %o {to = i64} : i64[E]
    %1 = const {value = -1} : f32[]
    %2 = const {value = 0} : i64[]
    %3 = dims {values = [E - 1], scalar} : i64[]
    %4 = const {value = 1} : i64[]
    %5 = range %2, %3, %4 : i64[max(0, E - 1)]
    %6 = gather %0, %5 {axis = 0, negative = error} : i64[max(0, E - 1)]
    %7 = reshape %6 {to = [max(0, E - 1), 1]} : i64[max(0, E - 1), 1]
    %8 = dims {values = [E - 1], scalar} : i64[]
    %9 = const {value = 1} : i64[]
    %10 = add %5, %9 : i64[max(0, E - 1)]
    %11 = min %10, %8 : i64[max(0, E - 1)]
    %12 = gather %0, %11 {axis = 0, negative = error} : i64[max(0, E - 1)]
    %13 = reshape %12 {to = [max(0, E - 1), 1]} : i64[max(0, E - 1), 1]
    %14 = const {value = 0} : i64[]
    %15 = const {value = 5} : i64[]
    %16 = const {value = 1} : i64[]
    %17 = range %14, %15, %16 : i64[5]
    %18 = add %7, %17 : i64[max(0, E - 1), 5]
    %19 = lt %18, %13 : bool[max(0, E - 1), 5]
    %20 = const {value = 0} : i64[]
    %21 = where %19, %18, %20 : i64[max(0, E - 1), 5]
    %22 = dims {values = [T], scalar} : i64[]
    %23 = where %19, %21, %22 : i64[max(0, E - 1), 5]
    %24 = expand %1 {to = [1, 8]} : f32[1, 8]
    %25 = concat %x, %24 {axis = 0} : f32[T + 1, 8]
    %26 = gather %25, %23 {axis = 0, negative = error} : f32[max(0, E - 1), 5, 8]
    %27 = cast %o {to = i64} : i64[E]
    %28 = dims {values = [T], scalar} : i64[]
    %29 = const {value = 0} : i64[]
    %30 = const {value = -1} : i64[]
    %31 = const {value = 1} : i64[]
    %32 = range %29, %28, %31 : i64[T]
    %33 = slice %27 {starts = [1], sizes = [E - 1]} : i64[E - 1]
    %34 = bucketize %32, %33 {right} : i64[T]
    %35 = gather %27, %34 {axis = 0, negative = error} : i64[T]
    %36 = sub %32, %35 : i64[T]
    %37 = const {value = 5} : i64[]
    %38 = lt %36, %37 : bool[T]
    %39 = ge %36, %29 : bool[T]
    %40 = and %38, %39 : bool[T]
    %41 = where %40, %36, %30 : i64[T]
    %42 = reshape %41 {to = [T, 1]} : i64[T, 1]
    %43 = dims {values = [E - 1], scalar} : i64[]
    %44 = lt %34, %43 : bool[T]
    %45 = and %40, %44 : bool[T]
    %46 = where %44, %34, %30 : i64[T]
    %47 = reshape %46 {to = [T, 1]} : i64[T, 1]
    %48 = concat %47, %42 {axis = 1} : i64[T, 2]
    %49 = gather_nd %26, %48 {negative = skip} : f32[T, 8]
    %50 = const {value = 0} : f32[]
    %51 = reshape %45 {to = [T, 1]} : bool[T, 1]
    %52 = where %51, %49, %50 : f32[T, 8]
    ret %52
  }
}
# ---- jagged_kept ----
# decompose: CPUs have a kernel for rows of parts, so fuse sees them.
# run: decompose,dce,fuse
# target: cpu:v3
# values: o offsets x
module @m {
  graph @main(%x: f32[T, 8], %o: i32[E]) -> (f32[T, 8]) {
    %0 = jagged_to_padded %x, %o {length = 5, padding = -1} : f32[E - 1, 5, 8]
    %1 = padded_to_jagged %0, %o {rows = T} : f32[T, 8]
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[T, 8], %o: i32[E]) -> (f32[T, 8]) {
    %0 = fused %x, %o {family = "jagged"} : f32[E - 1, 5, 8] (%1: f32[T, 8], %2: i32[E]) {
      %3 = jagged_to_padded %1, %2 {length = 5, padding = -1} : f32[E - 1, 5, 8]
      yield %3
    }
    %4 = fused %0, %o {family = "jagged"} : f32[T, 8] (%5: f32[E - 1, 5, 8], %6: i32[E]) {
      %7 = padded_to_jagged %5, %6 {rows = T} : f32[T, 8]
      yield %7
    }
    ret %4
  }
}
# ---- decompose_attention ----
# decompose: a mask whose extents only the run knows is spread over the scores, and so are
# queries over its batch: scores are of one shape with the mask and without.
# run: decompose,dce
# target: cpu:v4
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: m plain
# values: q plain
# values: k plain
# values: v plain
module @m {
  graph @main(%q: f32[B, 2, L, 8], %k: f32[B, 2, S, 8], %v: f32[B, 2, S, 4], %m: f32[M, 1, 1, K]) -> (f32[bcast(B, M), 2, L, 4]) {
    %0 = attention %q, %k, %v, %m {scale = 0.5, empty_nan} : f32[bcast(B, M), 2, L, 4]
    ret %0
  }
}
# expect:
module @m {
  graph @main(%q: f32[B, 2, L, 8], %k: f32[B, 2, S, 8], %v: f32[B, 2, S, 4], %m: f32[M, 1, 1, K]) -> (f32[bcast(B, M), 2, L, 4]) {
    %0 = expand %q {to = [bcast(B, M), 1, 1, 1]} : f32[bcast(B, M), 2, L, 8]
    %1 = expand %m {to = [1, 1, 1, S]} : f32[M, 1, 1, bcast(S, K)]
    %2 = slice %1 {starts = [0, 0, 0, 0], sizes = [M, 1, 1, S]} : f32[M, 1, 1, S]
    %3 = matmul %0, %k {transpose_b} : f32[bcast(B, M), 2, L, S]
    %4 = const {value = 0.5} : f32[]
    %5 = mul %3, %4 : f32[bcast(B, M), 2, L, S]
    %6 = add %5, %2 : f32[bcast(B, M), 2, L, S]
    %7 = softmax %6 {axis = 3} : f32[bcast(B, M), 2, L, S]
    %8 = matmul %7, %v : f32[bcast(B, M), 2, L, 4]
    ret %8
  }
}
# ---- decompose_cast ----
# decompose: sums of bytes in f32 are whole and stay floats; those that may be too large, or
# are of other floats, are made integers between.
# run: decompose,dce
# target: cpu:v4
module @m {
  graph @main(%x: u8[A, 4, 5, 5], %zx: u8[], %w: i8[4, 1, 3, 3], %f: f32[A, 4, 5, 5], %g: f32[4, 1, 3, 3], %y: u8[A, 2, 17, 17], %v: i8[2, 1, 17, 17]) -> (f32[A, 4, 5, 5], i32[A, 4, 5, 5], f32[A, 4, 3, 3], f32[A, 2, 1, 1]) {
    %0 = conv_integer %x, %w, %zx {before = [1, 1], after = [1, 1], group = 4} : i32[A, 4, 5, 5]
    %1 = cast %0 {to = f32} : f32[A, 4, 5, 5]
    %2 = conv %f, %g {group = 4} : f32[A, 4, 3, 3]
    %3 = cast %2 {to = i32} : i32[A, 4, 3, 3]
    %4 = cast %3 {to = f32} : f32[A, 4, 3, 3]
    %5 = conv_integer %y, %v {group = 2} : i32[A, 2, 1, 1]
    %6 = cast %5 {to = f32} : f32[A, 2, 1, 1]
    ret %1, %0, %4, %6
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[A, 4, 5, 5],
      %zx: u8[],
      %w: i8[4, 1, 3, 3],
      %f: f32[A, 4, 5, 5],
      %g: f32[4, 1, 3, 3],
      %y: u8[A, 2, 17, 17],
      %v: i8[2, 1, 17, 17]) -> (f32[A, 4, 5, 5], i32[A, 4, 5, 5], f32[A, 4, 3, 3], f32[A, 2, 1, 1]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %zx : f32[A, 4, 5, 5]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 1, 3, 3]
    %4 = pad %1 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[A, 4, 7, 7]
    %5 = conv %4, %3 {group = 4} : f32[A, 4, 5, 5]
    %6 = cast %5 {to = i32} : i32[A, 4, 5, 5]
    %7 = conv %f, %g {group = 4} : f32[A, 4, 3, 3]
    %8 = cast %7 {to = i32} : i32[A, 4, 3, 3]
    %9 = cast %8 {to = f32} : f32[A, 4, 3, 3]
    %10 = cast %y {to = f64} : f64[A, 2, 17, 17]
    %11 = cast %v {to = f64} : f64[2, 1, 17, 17]
    %12 = conv %10, %11 {group = 2} : f64[A, 2, 1, 1]
    %13 = cast %12 {to = i32} : i32[A, 2, 1, 1]
    %14 = cast %13 {to = f32} : f32[A, 2, 1, 1]
    ret %5, %6, %9, %14
  }
}
# ---- decompose_conv_integer ----
# decompose: sums of few bytes are whole numbers of f32, those of many of f64.
# run: decompose,dce
# target: cpu:v3
module @m {
  graph @main(%x: u8[N, 3, 8, 8], %w: i8[4, 3, 1, 1], %y: i8[N, 300, 8, 8], %v: i8[4, 300, 1, 1], %z: u8[]) -> (i32[N, 4, 8, 8], i32[N, 4, 8, 8]) {
    %0 = conv_integer %x, %w, %z : i32[N, 4, 8, 8]
    %1 = conv_integer %y, %v {group = 1} : i32[N, 4, 8, 8]
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[N, 3, 8, 8],
      %w: i8[4, 3, 1, 1],
      %y: i8[N, 300, 8, 8],
      %v: i8[4, 300, 1, 1],
      %z: u8[]) -> (i32[N, 4, 8, 8], i32[N, 4, 8, 8]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %z : f32[N, 3, 8, 8]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 3, 1, 1]
    %4 = conv %1, %3 : f32[N, 4, 8, 8]
    %5 = cast %4 {to = i32} : i32[N, 4, 8, 8]
    %6 = cast %y {to = f64} : f64[N, 300, 8, 8]
    %7 = cast %v {to = f64} : f64[4, 300, 1, 1]
    %8 = conv %6, %7 {group = 1} : f64[N, 4, 8, 8]
    %9 = cast %8 {to = i32} : i32[N, 4, 8, 8]
    ret %5, %9
  }
}
# ---- decompose_conv_windows ----
# decompose: a convolution of bytes with constant weights is a product with channels last;
# those of few channels, and of groups, are convolutions of floats.
# run: decompose,dce
# target: cpu:v3
module @m {
  weight @w : i8[4, 8, 2, 2] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @g : i8[4, 2, 1, 1] = splat(-7)
  graph @main(%x: u8[N, 8, H, 8], %y: i8[N, 3, 9], %v: u8[N, 4, 5, 5], %z: u8[], %s: i8[1]) -> (i32[N, 4, H, 4], i32[N, 3, 4], i32[N, 4, 5, 5]) {
    %0 = const {value = [1, 0, -1, 2]} : i8[4, 1, 1, 1]
    %1 = conv_integer %x, @w, %z, %0 {strides = [1, 2], dilations = [1, 2], before = [0, 1], after = [1, 1]} : i32[N, 4, H, 4]
    %2 = const {value = 128} : u8[]
    %3 = conv_integer %y, @d, %s, %2 {strides = [2], group = 3} : i32[N, 3, 4]
    %4 = conv_integer %v, @g {group = 2} : i32[N, 4, 5, 5]
    ret %1, %3, %4
  }
}
# expect:
module @m {
  weight @w : i8[4, 8, 2, 2] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @g : i8[4, 2, 1, 1] = splat(-7)
  graph @main(
      %x: u8[N, 8, H, 8],
      %y: i8[N, 3, 9],
      %v: u8[N, 4, 5, 5],
      %z: u8[],
      %s: i8[1]) -> (i32[N, 4, H, 4], i32[N, 3, 4], i32[N, 4, 5, 5]) {
    %0 = const {value = [1, 0, -1, 2]} : i8[4, 1, 1, 1]
    %1 = pad %x, %z {before = [0, 0, 0, 1], after = [0, 0, 1, 1]} : u8[N, 8, H + 1, 10]
    %2 = transpose %1 {perm = [0, 2, 3, 1]} : u8[N, H + 1, 10, 8]
    %3 = windows %2 {kernel = [2, 2], strides = [1, 2], dilations = [1, 2]} : u8[N, H, 4, 32]
    %4 = reshape %0 {to = [4]} : i8[4]
    %5 = transpose @w {perm = [0, 2, 3, 1]} : i8[4, 2, 2, 8]
    %6 = reshape %5 {to = [4, 32]} : i8[4, 32]
    %7 = transpose %6 {perm = [1, 0]} : i8[32, 4]
    %8 = matmul_integer %3, %7, %z, %4 : i32[N, H, 4, 4]
    %9 = transpose %8 {perm = [0, 3, 1, 2]} : i32[N, 4, H, 4]
    %10 = const {value = 128} : u8[]
    %11 = const {value = 1} : f32[]
    %12 = dequantize %y, %11, %s : f32[N, 3, 9]
    %13 = const {value = 1} : f32[]
    %14 = dequantize @d, %13, %10 : f32[3, 1, 3]
    %15 = conv %12, %14 {strides = [2], group = 3} : f32[N, 3, 4]
    %16 = cast %15 {to = i32} : i32[N, 3, 4]
    %17 = conv_integer %v, @g {group = 2} : i32[N, 4, 5, 5]
    ret %9, %16, %17
  }
}
# ---- decompose_dequantize_sum ----
# decompose: whole sums of bytes in f32 meet their scale as they are; a zero point is taken
# off as an integer.
# run: decompose,dce
# target: cpu:v4
module @m {
  graph @main(%x: u8[A, 4, 5, 5], %zx: u8[], %w: i8[4, 1, 3, 3], %s: f32[4], %t: f32[], %z: i32[]) -> (f32[A, 4, 5, 5], f32[A, 4, 5, 5]) {
    %0 = conv_integer %x, %w, %zx {before = [1, 1], after = [1, 1], group = 4} : i32[A, 4, 5, 5]
    %1 = dequantize %0, %s {axis = 1} : f32[A, 4, 5, 5]
    %2 = dequantize %0, %t, %z : f32[A, 4, 5, 5]
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(
      %x: u8[A, 4, 5, 5],
      %zx: u8[],
      %w: i8[4, 1, 3, 3],
      %s: f32[4],
      %t: f32[],
      %z: i32[]) -> (f32[A, 4, 5, 5], f32[A, 4, 5, 5]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize %x, %0, %zx : f32[A, 4, 5, 5]
    %2 = const {value = 1} : f32[]
    %3 = dequantize %w, %2 : f32[4, 1, 3, 3]
    %4 = pad %1 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[A, 4, 7, 7]
    %5 = conv %4, %3 {group = 4} : f32[A, 4, 5, 5]
    %6 = cast %5 {to = i32} : i32[A, 4, 5, 5]
    %7 = reshape %s {to = [1, 4, 1, 1]} : f32[1, 4, 1, 1]
    %8 = mul %5, %7 : f32[A, 4, 5, 5]
    %9 = sub %6, %z : i32[A, 4, 5, 5]
    %10 = cast %9 {to = f32} : f32[A, 4, 5, 5]
    %11 = mul %10, %t : f32[A, 4, 5, 5]
    ret %8, %11
  }
}
# ---- decompose_quantised ----
# decompose: each way to round, zero points along an axis, sums of products with and without
# room in f32.
# run: decompose,dce
# target: cuda:sm_80
module @m {
  graph @main(%x: f32[A, 4], %s: f32[4], %z: u8[4], %f: f32[4], %a: u8[A, 4], %b: i8[4, 4], %c: i8[4, 300], %d: i8[300, 4]) -> (u8[A, 4], u8[A, 4], u4[A, 4], u8[A, 4], f8e4m3fn[A, 4], i32[A, 4], i32[4, 4]) {
    %0 = quantize %x, %s, %z {to = u8, axis = 1} : u8[A, 4]
    %1 = quantize %x, %s, %z {to = u8, rounding = multiply, axis = 1} : u8[A, 4]
    %2 = quantize %x, %s, %f {to = u4, rounding = offset, axis = 1} : u4[A, 4]
    %3 = matmul_integer %a, %b, %z : i32[A, 4]
    %4 = quantize %3, %s {to = u8, rounding = factor, axis = 1} : u8[A, 4]
    %5 = quantize %x, %s {to = f8e4m3fn, axis = 1, saturate} : f8e4m3fn[A, 4]
    %6 = matmul_integer %c, %d : i32[4, 4]
    ret %0, %1, %2, %4, %5, %3, %6
  }
}
# expect:
module @m {
  graph @main(
      %x: f32[A, 4],
      %s: f32[4],
      %z: u8[4],
      %f: f32[4],
      %a: u8[A, 4],
      %b: i8[4, 4],
      %c: i8[4, 300],
      %d: i8[300, 4]) -> (u8[A, 4], u8[A, 4], u4[A, 4], u8[A, 4], f8e4m3fn[A, 4], i32[A, 4], i32[4, 4]) {
    %0 = div_round %x, %s : f32[A, 4]
    %1 = cast %z {to = f32} : f32[4]
    %2 = add %0, %1 : f32[A, 4]
    %3 = cast %2 {to = u8} : u8[A, 4]
    %4 = recip %s : f32[4]
    %5 = mul %x, %4 : f32[A, 4]
    %6 = cast %z {to = f32} : f32[4]
    %7 = round %5 : f32[A, 4]
    %8 = add %7, %6 : f32[A, 4]
    %9 = cast %8 {to = u8} : u8[A, 4]
    %10 = recip %s : f32[4]
    %11 = mul %x, %10 : f32[A, 4]
    %12 = add %11, %f : f32[A, 4]
    %13 = round %12 : f32[A, 4]
    %14 = const {value = 0} : f32[]
    %15 = max %13, %14 : f32[A, 4]
    %16 = const {value = 15} : f32[]
    %17 = min %15, %16 : f32[A, 4]
    %18 = cast %17 {to = u4} : u4[A, 4]
    %19 = const {value = 1} : f32[]
    %20 = dequantize %a, %19, %z : f32[A, 4]
    %21 = const {value = 1} : f32[]
    %22 = dequantize %b, %21 : f32[4, 4]
    %23 = matmul %20, %22 : f32[A, 4]
    %24 = cast %23 {to = i32} : i32[A, 4]
    %25 = cast %24 {to = f32} : f32[A, 4]
    %26 = mul %25, %s : f32[A, 4]
    %27 = round %26 : f32[A, 4]
    %28 = cast %27 {to = u8} : u8[A, 4]
    %29 = div %x, %s : f32[A, 4]
    %30 = cast %29 {to = f8e4m3fn, saturate} : f8e4m3fn[A, 4]
    %31 = cast %c {to = i32} : i32[4, 300]
    %32 = cast %d {to = i32} : i32[300, 4]
    %33 = matmul %31, %32 : i32[4, 4]
    ret %3, %9, %18, %28, %30, %24, %33
  }
}
# ---- lower ----
# lower: a compute becomes a launch; extents that are not known are params; equal kernels are one.
# run: fuse,bufferise,lower
# target: cpu:v3
module @m {
  graph @main(%x: f32[B], %y: f32[C]) -> (f32[B] "o", f32[C] "p") {
    %0 = relu %x : f32[B]
    %1 = relu %y : f32[C]
    ret %0, %1
  }
}
# expect:
module @m {
  plan @main(%x: f32[B], %y: f32[C]) -> (&f32[B] "o", &f32[C] "p") {
    %0 = alloc : &f32[B]
    launch %x, %0 {kernel = @map_relu, outs = 1, grid = ceil(B / 4096), params = [ceil(B / 4096), B], cost = ceil(B / 4), work = [B, 8*B, 0]}
    %1 = alloc : &f32[C]
    launch %y, %1 {kernel = @map_relu, outs = 1, grid = ceil(C / 4096), params = [ceil(C / 4096), C], cost = ceil(C / 4), work = [C, 8*C, 0]}
    ret %0, %1
  }
  kernel @map_relu(%0: &f32, %1: &f32, %2: i64, %3: i64) {
    %4 = const {value = i64[] 1} : i64
    %5, %6 = tiles : i64, i64
    %7 = const {value = i64[] 1} : i64
    for %5, %6, %7 (%8: i64) {
      %9 = const {value = i64[] 1} : i64
      %10 = const {value = i64[] 4096} : i64
      %11 = const {value = i64[] 1} : i64
      %12 = div %8, %2 : i64
      %13 = mod %8, %2 : i64
      %14 = mul %13, %10 : i64
      %15 = add %14, %10 : i64
      %16 = min %3, %15 : i64
      %17 = add %12, %9 : i64
      %18 = min %4, %17 : i64
      for %12, %18, %11 (%19: i64) {
        %20 = const {value = i64[] 8} : i64
        %21 = sub %16, %14 : i64
        %22 = div %21, %20 : i64
        %23 = mul %22, %20 : i64
        %24 = add %14, %23 : i64
        for %14, %24, %20 (%25: i64) {
          %26 = const {value = i64[] 0} : i64
          %27 = load %0, %25 : f32<8>
          %28 = relu %27 : f32<8>
          %29 = const {value = i64[] 0} : i64
          store %28, %1, %25
          yield
        }
        %30 = lt %24, %16 : bool
        if %30 {
          %31 = sub %16, %24 : i64
          %32 = const {value = i64[] 0} : i64
          %33 = load %0, %24, %31 : f32<8>
          %34 = relu %33 : f32<8>
          %35 = const {value = i64[] 0} : i64
          store %34, %1, %24, %31
          yield
        } else {
          yield
        }
        yield
      }
      yield
    }
    ret
  }
}
# ---- lower_gpu ----
# lower: on a GPU a tile is a block of threads, and the launch says how many.
# run: fuse,bufferise,lower
# target: cuda:sm_80
# not run: kernels of GPUs are judged by test_cuda_lower
module @m {
  graph @main(%x: f32[B, 3], %y: f32[3]) -> (f32[B, 3] "o") {
    %0 = add %x, %y : f32[B, 3]
    ret %0
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 3], %y: f32[3]) -> (&f32[B, 3] "o") {
    %0 = alloc : &f32[B, 3]
    launch %x, %y, %0 {kernel = @map_add, outs = 1, grid = ceil(3*B / 1024), params = [3*B], threads = 256, work = [3*B, 24*B + 12, 0]}
    ret %0
  }
  kernel @map_add(%0: &f32, %1: &f32, %2: &f32, %3: i64) {
    %4 = const {value = i64[] 0} : i64
    %5 = const {value = i64[] 1} : i64
    %6 = const {value = i64[] 3} : i64
    %7 = thread : i64
    %8, %9 = tiles : i64, i64
    %10 = const {value = i64[] 1} : i64
    for %8, %9, %10 (%11: i64) {
      %12 = const {value = i64[] 1024} : i64
      %13 = mul %11, %12 : i64
      %14 = const {value = i64[] 1024} : i64
      %15 = add %13, %14 : i64
      %16 = min %3, %15 : i64
      %17 = const {value = i64[] 256} : i64
      %18 = add %13, %7 : i64
      for %18, %16, %17 (%19: i64) {
        %20 = mod %19, %6 : i64
        %21 = div %19, %6 : i64
        %22 = const {value = i64[] 0} : i64
        %23 = mul %21, %6 : i64
        %24 = add %23, %20 : i64
        %25 = load %0, %24 : f32
        %26 = const {value = i64[] 0} : i64
        %27 = const {value = i64[] 0} : i64
        %28 = const {value = i64[] 0} : i64
        %29 = load %1, %20 : f32
        %30 = add %25, %29 : f32
        %31 = const {value = i64[] 0} : i64
        %32 = mul %21, %6 : i64
        %33 = add %32, %20 : i64
        store %30, %2, %33
        yield
      }
      yield
    }
    ret
  }
}
# ---- sanitize ----
# Each load and store is done where it lies inside of its memory; sizes are params.
# run: sanitize
module @m {
  table @t : i8<rowwise f16>[2, 4] = inline(0x01020304003c000001020304003c0000)
  plan @main(%x: f32[B, 8]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    launch %x, @t, %0 {kernel = @runs, outs = 1, grid = 1, params = [B]}
    %1 = view %0 {offset = 3, strides = [8]} : &f32[B]
    launch %x, %1 {kernel = @walk, outs = 1, grid = 1, scratch = 64}
    %2 = alloc : &f32[B, 8]
    launch %x, @t, %2 {kernel = @runs, outs = 1, grid = 1, params = [B]}
    %3 = view %2 {offset = 8*B - 8, strides = [-8, 1]} : &f32[B, 4]
    launch %3, %1 {kernel = @walk, outs = 1, grid = 1, scratch = 64}
    ret %0
  }
  kernel @runs(%x: &f32, %t: &u8, %y: &f32, %B: i64) {
    %0 = const {value = 8} : i64
    %1 = load %x, %0 : f32<8>
    %2 = load %x, %0, %B : f32<8>
    %3 = iota : i64<4>
    %4 = load_at %x, %3 : f32<4>
    store %1, %y, %0
    store %2, %y, %0, %B
    %5 = offset %t, %0 : &u8
    %6 = reinterpret %5 : &f32
    %7 = load %6, %B : f32
    store %7, %y, %0
    %8 = buffer_at %x, %B : &f32
    %9 = load %8, %0 : f32
    store %9, %y, %B
    ret
  }
  kernel @walk(%x: &f32, %y: &f32) {
    %0 = local {count = 4} : &f32
    %1 = scratch {offset = 16} : &f32
    %2 = const {value = 0} : i64
    %3 = const {value = 4} : i64
    %4 = const {value = 1} : i64
    %5 = for %2, %3, %4, %x : &f32 (%i: i64, %b: &f32) {
      %6 = load %b, %i : f32
      store %6, %0, %i
      store %6, %1, %i
      %7 = offset %b, %3 : &f32
      yield %7
    }
    %8 = load %5, %2 : f32
    store %8, %y, %2
    ret
  }
}
# expect:
module @m {
  table @t : i8<rowwise f16>[2, 4] = inline(0x01020304003c000001020304003c0000)
  plan @main(%x: f32[B, 8]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    launch %x, @t, %0 {kernel = @runs, outs = 1, grid = 1, params = [B, 0, 0, 0, 32*B, 16, 32*B, 0], checks}
    %1 = view %0 {offset = 3, strides = [8]} : &f32[B]
    launch %x, %1 {kernel = @walk, outs = 1, grid = 1, params = [0, 0, 32*B, 32*min(B, 1)*max(0, B - 1) + 4*min(B, 1), 64], scratch = 64, checks}
    %2 = alloc : &f32[B, 8]
    launch %x, @t, %2 {kernel = @runs, outs = 1, grid = 1, params = [B, 0, 0, 0, 32*B, 16, 32*B, 0], checks}
    %3 = view %2 {offset = 8*B - 8, strides = [-8, 1]} : &f32[B, 4]
    launch %3, %1 {kernel = @walk, outs = 1, grid = 1, params = [32*max(0, B - 1), 0, 32*min(B, 1)*max(0, B - 1) + 16*min(B, 1), 32*min(B, 1)*max(0, B - 1) + 4*min(B, 1), 64], scratch = 64, checks}
    ret %0
  }
  kernel @runs(
      %x: &f32,
      %t: &u8,
      %y: &f32,
      %B: i64,
      %0: i64,
      %1: i64,
      %2: i64,
      %3: i64,
      %4: i64,
      %5: i64,
      %6: i64) {
    %7 = local {count = 2} : &i64
    %8 = local {count = 2} : &i64
    %9 = local {count = 2} : &i64
    %10 = const {value = i64[] 0} : i64
    %11 = const {value = i64[] 1} : i64
    store %10, %9, %11
    %12 = const {value = i64[] 2} : i64
    %13 = const {value = i64[] 4} : i64
    %14 = const {value = i64[] 8} : i64
    %15 = const {value = i64[] 32} : i64
    %16 = sub %3, %15 : i64
    %17 = const {value = i64[] 8589934592} : i64
    %18 = const {value = i64[] 4611686018427387904} : i64
    %19 = sub %3, %13 : i64
    %20 = sub %5, %15 : i64
    %21 = const {value = i64[] 4611686022722355200} : i64
    %22 = sub %4, %13 : i64
    %23 = sub %5, %13 : i64
    %24 = const {value = 8} : i64
    %25 = const {value = i64[] 32} : i64
    %26 = add %0, %25 : i64
    %27 = const {value = i64[] 32} : i64
    %28 = le %26, %16 : bool
    %29 = ge %26, %10 : bool
    %30 = and %29, %28 : bool
    %31 = const {value = i64[] 274877906944} : i64
    %32 = const {value = i64[] 4611686293305294848} : i64
    %33 = const {value = i64[] 4611686293305294848} : i64
    %34 = where %30, %10, %11 : i64
    store %33, %9, %34
    store %26, %8, %34
    store %3, %7, %34
    %35 = where %30, %14, %10 : i64
    %36 = load %x, %24, %35 : f32<8>
    %37 = const {value = i64[] 32} : i64
    %38 = add %0, %37 : i64
    %39 = min %B, %14 : i64
    %40 = max %39, %10 : i64
    %41 = mul %40, %13 : i64
    %42 = sub %3, %41 : i64
    %43 = le %38, %42 : bool
    %44 = ge %38, %10 : bool
    %45 = and %44, %43 : bool
    %46 = le %B, %10 : bool
    %47 = or %46, %45 : bool
    %48 = mul %41, %17 : i64
    %49 = add %18, %48 : i64
    %50 = where %47, %10, %11 : i64
    store %49, %9, %50
    store %38, %8, %50
    store %3, %7, %50
    %51 = where %47, %B, %10 : i64
    %52 = load %x, %24, %51 : f32<8>
    %53 = iota : i64<4>
    %54 = splat %13 : i64<4>
    %55 = mul %53, %54 : i64<4>
    %56 = splat %0 : i64<4>
    %57 = add %55, %56 : i64<4>
    %58 = hreduce %57 {op = min} : i64
    %59 = hreduce %57 {op = max} : i64
    %60 = lt %58, %10 : bool
    %61 = where %60, %58, %59 : i64
    %62 = le %59, %19 : bool
    %63 = ge %58, %10 : bool
    %64 = and %63, %62 : bool
    %65 = const {value = i64[] 34359738368} : i64
    %66 = const {value = i64[] 4611686052787126272} : i64
    %67 = const {value = i64[] 4611686052787126272} : i64
    %68 = where %64, %10, %11 : i64
    store %67, %9, %68
    store %61, %8, %68
    store %3, %7, %68
    %69 = if %64 : f32<4> {
      %70 = load_at %x, %53 : f32<4>
      yield %70
    } else {
      %71 = const {value = f32[] 0} : f32
      %72 = splat %71 : f32<4>
      yield %72
    }
    %73 = const {value = i64[] 32} : i64
    %74 = add %2, %73 : i64
    %75 = const {value = i64[] 32} : i64
    %76 = le %74, %20 : bool
    %77 = ge %74, %10 : bool
    %78 = and %77, %76 : bool
    %79 = const {value = i64[] 274877906944} : i64
    %80 = const {value = i64[] 4611686297600262144} : i64
    %81 = const {value = i64[] 4611686297600262146} : i64
    %82 = where %78, %10, %11 : i64
    store %81, %9, %82
    store %74, %8, %82
    store %5, %7, %82
    %83 = where %78, %14, %10 : i64
    store %36, %y, %24, %83
    %84 = const {value = i64[] 32} : i64
    %85 = add %2, %84 : i64
    %86 = min %B, %14 : i64
    %87 = max %86, %10 : i64
    %88 = mul %87, %13 : i64
    %89 = sub %5, %88 : i64
    %90 = le %85, %89 : bool
    %91 = ge %85, %10 : bool
    %92 = and %91, %90 : bool
    %93 = le %B, %10 : bool
    %94 = or %93, %92 : bool
    %95 = mul %88, %17 : i64
    %96 = add %21, %95 : i64
    %97 = add %96, %12 : i64
    %98 = where %94, %10, %11 : i64
    store %97, %9, %98
    store %85, %8, %98
    store %5, %7, %98
    %99 = where %94, %B, %10 : i64
    store %52, %y, %24, %99
    %100 = const {value = i64[] 8} : i64
    %101 = add %1, %100 : i64
    %102 = offset %t, %24 : &u8
    %103 = reinterpret %102 : &f32
    %104 = mul %B, %13 : i64
    %105 = add %101, %104 : i64
    %106 = const {value = i64[] 4} : i64
    %107 = le %105, %22 : bool
    %108 = ge %105, %10 : bool
    %109 = and %108, %107 : bool
    %110 = const {value = i64[] 34359738368} : i64
    %111 = const {value = i64[] 4611686052787126272} : i64
    %112 = const {value = i64[] 4611686052787126273} : i64
    %113 = where %109, %10, %11 : i64
    store %112, %9, %113
    store %105, %8, %113
    store %4, %7, %113
    %114 = where %109, %11, %10 : i64
    %115 = load %103, %B, %114 : f32
    %116 = const {value = i64[] 32} : i64
    %117 = add %2, %116 : i64
    %118 = const {value = i64[] 4} : i64
    %119 = le %117, %23 : bool
    %120 = ge %117, %10 : bool
    %121 = and %120, %119 : bool
    %122 = const {value = i64[] 34359738368} : i64
    %123 = const {value = i64[] 4611686057082093568} : i64
    %124 = const {value = i64[] 4611686057082093570} : i64
    %125 = where %121, %10, %11 : i64
    store %124, %9, %125
    store %117, %8, %125
    store %5, %7, %125
    %126 = where %121, %11, %10 : i64
    store %115, %y, %24, %126
    %127 = param_at %0, %B : i64
    %128 = param_at %3, %B : i64
    %129 = buffer_at %x, %B : &f32
    %130 = const {value = i64[] 32} : i64
    %131 = add %127, %130 : i64
    %132 = const {value = i64[] 4} : i64
    %133 = sub %128, %132 : i64
    %134 = le %131, %133 : bool
    %135 = ge %131, %10 : bool
    %136 = and %135, %134 : bool
    %137 = const {value = i64[] 34359738368} : i64
    %138 = const {value = i64[] 4611686052787126272} : i64
    %139 = add %138, %B : i64
    %140 = where %136, %10, %11 : i64
    store %139, %9, %140
    store %131, %8, %140
    store %128, %7, %140
    %141 = where %136, %11, %10 : i64
    %142 = load %129, %24, %141 : f32
    %143 = mul %B, %13 : i64
    %144 = add %2, %143 : i64
    %145 = const {value = i64[] 4} : i64
    %146 = le %144, %23 : bool
    %147 = ge %144, %10 : bool
    %148 = and %147, %146 : bool
    %149 = const {value = i64[] 34359738368} : i64
    %150 = const {value = i64[] 4611686057082093568} : i64
    %151 = const {value = i64[] 4611686057082093570} : i64
    %152 = where %148, %10, %11 : i64
    store %151, %9, %152
    store %144, %8, %152
    store %5, %7, %152
    %153 = where %148, %11, %10 : i64
    store %142, %y, %B, %153
    %154 = load %9, %11 : i64
    %155 = load %8, %11 : i64
    %156 = load %7, %11 : i64
    %157 = ne %154, %10 : bool
    if %157 {
      report %154, %155, %156
      yield
    } else {
      yield
    }
    ret
  }
  kernel @walk(
      %x: &f32,
      %y: &f32,
      %0: i64,
      %1: i64,
      %2: i64,
      %3: i64,
      %4: i64) {
    %5 = local {count = 2} : &i64
    %6 = local {count = 2} : &i64
    %7 = local {count = 2} : &i64
    %8 = const {value = i64[] 0} : i64
    %9 = const {value = i64[] 1} : i64
    store %8, %7, %9
    %10 = const {value = i64[] 16} : i64
    %11 = const {value = i64[] 4294967295} : i64
    %12 = const {value = i64[] 2} : i64
    %13 = const {value = i64[] 4294967294} : i64
    %14 = scratch {offset = 0} : &i16
    %15 = div %4, %12 : i64
    %16 = const {value = i16[] 32759} : i16
    for %8, %15, %9 (%17: i64) {
      store %16, %14, %17
      yield
    }
    %18 = const {value = i64[] 4} : i64
    %19 = const {value = i64[] 8589934592} : i64
    %20 = const {value = i64[] 4611686018427387904} : i64
    %21 = const {value = i64[] 4611686022722355200} : i64
    %22 = sub %4, %18 : i64
    %23 = sub %3, %18 : i64
    %24 = local {count = 4} : &f32
    %25 = const {value = i64[] 8} : i64
    %26 = const {value = i16[] 32759} : i16
    %27 = reinterpret %24 : &i16
    for %8, %25, %9 (%28: i64) {
      store %26, %27, %28
      yield
    }
    %29 = scratch {offset = 16} : &f32
    %30 = const {value = 0} : i64
    %31 = const {value = 4} : i64
    %32 = const {value = 1} : i64
    %33, %34, %35, %36 = for %30, %31, %32, %x, %0, %2, %8 : &f32, i64, i64, i64 (%i: i64, %b: &f32, %37: i64, %38: i64, %39: i64) {
      %40 = mul %i, %18 : i64
      %41 = add %37, %40 : i64
      %42 = const {value = i64[] 4} : i64
      %43 = sub %38, %42 : i64
      %44 = le %41, %43 : bool
      %45 = ge %41, %8 : bool
      %46 = and %45, %44 : bool
      %47 = const {value = i64[] 34359738368} : i64
      %48 = const {value = i64[] 4611686052787126272} : i64
      %49 = add %48, %39 : i64
      %50 = where %46, %8, %9 : i64
      store %49, %7, %50
      store %41, %6, %50
      store %38, %5, %50
      %51 = where %46, %9, %8 : i64
      %52 = load %b, %i, %51 : f32
      %53 = mul %i, %18 : i64
      %54 = const {value = i64[] 4} : i64
      %55 = const {value = i64[] 12} : i64
      %56 = le %53, %55 : bool
      %57 = ge %53, %8 : bool
      %58 = and %57, %56 : bool
      %59 = const {value = i64[] 34359738368} : i64
      %60 = const {value = i64[] 4611686057082093568} : i64
      %61 = const {value = i64[] 4611686061377060863} : i64
      %62 = where %58, %8, %9 : i64
      store %61, %7, %62
      store %53, %6, %62
      store %10, %5, %62
      %63 = where %58, %9, %8 : i64
      store %52, %24, %i, %63
      %64 = mul %i, %18 : i64
      %65 = add %10, %64 : i64
      %66 = const {value = i64[] 4} : i64
      %67 = le %65, %22 : bool
      %68 = ge %65, %8 : bool
      %69 = and %68, %67 : bool
      %70 = const {value = i64[] 34359738368} : i64
      %71 = const {value = i64[] 4611686057082093568} : i64
      %72 = const {value = i64[] 4611686061377060862} : i64
      %73 = where %69, %8, %9 : i64
      store %72, %7, %73
      store %65, %6, %73
      store %4, %5, %73
      %74 = where %69, %9, %8 : i64
      store %52, %29, %i, %74
      %75 = const {value = i64[] 16} : i64
      %76 = add %37, %75 : i64
      %77 = offset %b, %31 : &f32
      yield %77, %76, %38, %39
    }
    %78 = const {value = i64[] 0} : i64
    %79 = const {value = i64[] 4} : i64
    %80 = sub %35, %79 : i64
    %81 = le %34, %80 : bool
    %82 = ge %34, %8 : bool
    %83 = and %82, %81 : bool
    %84 = const {value = i64[] 34359738368} : i64
    %85 = const {value = i64[] 4611686052787126272} : i64
    %86 = add %85, %36 : i64
    %87 = where %83, %8, %9 : i64
    store %86, %7, %87
    store %34, %6, %87
    store %35, %5, %87
    %88 = where %83, %9, %8 : i64
    %89 = load %33, %30, %88 : f32
    %90 = const {value = i64[] 0} : i64
    %91 = const {value = i64[] 4} : i64
    %92 = le %1, %23 : bool
    %93 = ge %1, %8 : bool
    %94 = and %93, %92 : bool
    %95 = const {value = i64[] 34359738368} : i64
    %96 = const {value = i64[] 4611686057082093568} : i64
    %97 = const {value = i64[] 4611686057082093569} : i64
    %98 = where %94, %8, %9 : i64
    store %97, %7, %98
    store %1, %6, %98
    store %3, %5, %98
    %99 = where %94, %9, %8 : i64
    store %89, %y, %30, %99
    %100 = load %7, %9 : i64
    %101 = load %6, %9 : i64
    %102 = load %5, %9 : i64
    %103 = ne %100, %8 : bool
    if %103 {
      report %100, %101, %102
      yield
    } else {
      yield
    }
    ret
  }
}
