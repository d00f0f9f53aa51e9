# ---- bag_update ----
# Tables that change in the rows of a batch.
# run:
module @update {
  graph @main(
      %w: f32[100, 4],
      %m: f32[100, 1],
      %v: f32[R, 4],
      %s: f32[R, 1],
      %ids: i64[N],
      %ids2: i64[K],
      %dy: f32[B, 4],
      %in: i64[N],
      %in2: i64[K],
      %rate: f32[]) -> (f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5, %6, %7 = bag_update %w, %m, %0, %1, %dy, %in, %v, %s, %2, %3, %dy, %in2, %rate {tables = 2, states = 1, bags} (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 1], %11: f32[]) {
      %12 = reduce %9 {op = sumsq, axes = [1], keep} : f32[1, 1]
      %13 = add %10, %12 : f32[1, 1]
      %14 = mul %9, %11 : f32[1, 4]
      %15 = sub %8, %14 : f32[1, 4]
      yield %15, %13
    } : f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]
    ret %4, %5, %6, %7
  }
}
# expect:
module @update {
  graph @main(
      %w: f32[100, 4],
      %m: f32[100, 1],
      %v: f32[R, 4],
      %s: f32[R, 1],
      %ids: i64[N],
      %ids2: i64[K],
      %dy: f32[B, 4],
      %in: i64[N],
      %in2: i64[K],
      %rate: f32[]) -> (f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5, %6, %7 = bag_update %w, %m, %0, %1, %dy, %in, %v, %s, %2, %3, %dy, %in2, %rate {tables = 2, states = 1, bags} : f32[100, 4], f32[100, 1], f32[R, 4], f32[R, 1] (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 1], %11: f32[]) {
      %12 = reduce %9 {op = sumsq, axes = [1], keep} : f32[1, 1]
      %13 = add %10, %12 : f32[1, 1]
      %14 = mul %9, %11 : f32[1, 4]
      %15 = sub %8, %14 : f32[1, 4]
      yield %15, %13
    }
    ret %4, %5, %6, %7
  }
}
# ---- constant ----
# Constants of every dtype and form: lists, one element, splats, bytes, bits.
# run:
module @constants {
  weight @w : f32[4] = [1, 2.5, -0, 0.1] {parameter}
  weight @special : f32[6] = [inf, -inf, nan, 0x7fc00001, 1e-45, 3.4028235e38]
  weight @half : f16[4] = [0.1, 65504, -inf, 0x7e01]
  weight @brain : bf16[3] = [0.1, 3.3895314e38, nan]
  weight @tiny : f8e4m3fn[3] = [448, -0.001953125, nan]
  weight @wide : f64[3] = [0.1, 4.9e-324, 1.7976931348623157e308]
  weight @bytes : i8[3] = inline(0x00ff80)
  weight @nibbles : i4[5] = [-8, 7, -1, 0, 3]
  weight @bits : u2[5] = [3, 2, 1, 0, 3]
  weight @edges : i64[2] = [-9223372036854775808, 9223372036854775807]
  weight @top : u64[1] = [18446744073709551615]
  weight @none : f32[0, 4] = []
  weight @all : f32[4096, 4096] = splat(0.5)
  weight @panels : f32[2, 3] = recipe(0)
  weight @"onnx::MatMul_12/a \"b\"" : f32[2] = [1, 2]
  table @plain : f32<rowwise>[2, 2] = [1, 2, 3, 4]
  table @rows : i8<rowwise f16>[1, 4] = inline(0x003c000001020304)
  table @pairs : i4<rowwise f32>[1, 3] = inline(0x0000803f000000002103)
  private graph @weights() -> (f32[2, 3]) {
    %0 = const {value = [1, 2, 3, 4, 5, 6]} : f32[2, 3]
    ret %0
  }
  graph @main(%n: i64[]) -> (f32[4], f32[6], f32[2], f32[4], bool[2], i64[3], i64[]) {
    %0 = const {value = [true, false]} : bool[2]
    %1 = const {value = f32[4] splat(1.5)} : f32[4]
    %2 = add %1, @w
    %3 = neg @special
    %4 = neg @"onnx::MatMul_12/a \"b\""
    %5 = add @w, @w
    %6 = dims {values = [N, 2*N + 1, -1]} : i64[3]
    %7 = dims {values = [ceil(N / 16)], scalar}
    ret %2, %3, %4, %5, %0, %6, %7
  }
}
# expect:
module @constants {
  weight @w : f32[4] = [1, 2.5, -0, 0.1] {parameter}
  weight @special : f32[6] = [inf, -inf, nan, 0x7fc00001, 1e-45, 3.4028235e+38]
  weight @half : f16[4] = [0.099975586, 65504, -inf, 0x7e01]
  weight @brain : bf16[3] = [0.100097656, 3.3895314e+38, nan]
  weight @tiny : f8e4m3fn[3] = [448, -0.001953125, nan]
  weight @wide : f64[3] = [0.1, 5e-324, 1.7976931348623157e+308]
  weight @bytes : i8[3] = [0, -1, -128]
  weight @nibbles : i4[5] = [-8, 7, -1, 0, 3]
  weight @bits : u2[5] = [3, 2, 1, 0, 3]
  weight @edges : i64[2] = [-9223372036854775808, 9223372036854775807]
  weight @top : u64[1] = [18446744073709551615]
  weight @none : f32[0, 4] = []
  weight @all : f32[4096, 4096] = splat(0.5)
  weight @panels : f32[2, 3] = recipe(0)
  weight @"onnx::MatMul_12/a \"b\"" : f32[2] = [1, 2]
  table @plain : f32<rowwise>[2, 2] = inline(0x0000803f000000400000404000008040)
  table @rows : i8<rowwise f16>[1, 4] = inline(0x003c000001020304)
  table @pairs : i4<rowwise f32>[1, 3] = inline(0x0000803f000000002103)
  private graph @weights() -> (f32[2, 3]) {
    %0 = const {value = [1, 2, 3, 4, 5, 6]} : f32[2, 3]
    ret %0
  }
  graph @main(%n: i64[]) -> (f32[4], f32[6], f32[2], f32[4], bool[2], i64[3], i64[]) {
    %0 = const {value = [true, false]} : bool[2]
    %1 = const {value = splat(1.5)} : f32[4]
    %2 = add %1, @w : f32[4]
    %3 = neg @special : f32[6]
    %4 = neg @"onnx::MatMul_12/a \"b\"" : f32[2]
    %5 = add @w, @w : f32[4]
    %6 = dims {values = [N, 2*N + 1, -1]} : i64[3]
    %7 = dims {values = [ceil(N / 16)], scalar} : i64[]
    ret %2, %3, %4, %5, %0, %6, %7
  }
}
# ---- contract ----
# Contractions and reductions.
# run:
module @contract {
  weight @w : f32[64, 32] = splat(0.125)
  weight @panels : f32[2, 64, 16] = splat(0.125)
  weight @scale : f32[32] = splat(1)
  graph @main(%x: f32[B, 64], %axes: i64[1], %bytes: u8[5, 32], %scales: f32[5, 2]) -> (f32[B, 32], f32[B, 1], f32[], f32[B, 32], f32[B, 32], f32[B, 32], f32[B, 5]) {
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
    %10 = matmul_bits %x, %bytes, %scales, %scales {bits = 4} : f32[B, 5]
    ret %0, %3, %4, %7, %8, %9, %10
  }
}
# expect:
module @contract {
  weight @w : f32[64, 32] = splat(0.125)
  weight @panels : f32[2, 64, 16] = splat(0.125)
  weight @scale : f32[32] = splat(1)
  graph @main(%x: f32[B, 64], %axes: i64[1], %bytes: u8[5, 32], %scales: f32[5, 2]) -> (f32[B, 32], f32[B, 1], f32[], f32[B, 32], f32[B, 32], f32[B, 32], f32[B, 5]) {
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
    %10 = matmul_bits %x, %bytes, %scales, %scales {bits = 4} : f32[B, 5]
    ret %0, %3, %4, %7, %8, %9, %10
  }
}
# ---- control ----
# Branches, loops, regions; nested, with and without arguments and results.
# run:
module @control {
  graph @main(%c: bool[], %n: i64[], %x: f32[2], %s: seq<f32[2]>) -> (f32[2], f32[T, 2], f32[2], seq<f32[2]>) {
    %0 = if %c : f32[2] {
      %1 = relu %x
      yield %1
    } else {
      yield %x
    }
    %4, %5 = loop %n, %c, %0 {scans = 1} (%i: i64[], %k: bool[], %y: f32[2]) {
      %6 = add %y, %x
      if %k {
        guard eq(T, T) "a branch without results"
        yield
      } else {
        yield
      }
      yield %k, %6, %6
    } : f32[2], f32[T, 2]
    %7 = loop %n, %c, %s (%i: i64[], %k: bool[], %y: seq<f32[2]>) {
      %8 = seq_insert %y, %4
      yield %k, %8
    } : seq<f32[2]>
    %9 = fused %4, %x {family = "map"} : f32[2] (%a: f32[2], %b: f32[2]) {
      %10 = add %a, %b
      %11 = relu %10
      yield %11
    }
    %12 = fused : f32[2] {
      %13 = const {value = [1, 2]} : f32[2]
      yield %13
    }
    %14 = add %9, %12
    ret %4, %5, %14, %7
  }
}
# expect:
module @control {
  graph @main(%c: bool[], %n: i64[], %x: f32[2], %s: seq<f32[2]>) -> (f32[2], f32[T, 2], f32[2], seq<f32[2]>) {
    %0 = if %c : f32[2] {
      %1 = relu %x : f32[2]
      yield %1
    } else {
      yield %x
    }
    %2, %3 = loop %n, %c, %0 {scans = 1} : f32[2], f32[T, 2] (%i: i64[], %k: bool[], %y: f32[2]) {
      %4 = add %y, %x : f32[2]
      if %k {
        guard eq(T, T) "a branch without results"
        yield
      } else {
        yield
      }
      yield %k, %4, %4
    }
    %5 = loop %n, %c, %s : seq<f32[2]> (%i: i64[], %k: bool[], %y: seq<f32[2]>) {
      %6 = seq_insert %y, %2 : seq<f32[2]>
      yield %k, %6
    }
    %7 = fused %2, %x {family = "map"} : f32[2] (%a: f32[2], %b: f32[2]) {
      %8 = add %a, %b : f32[2]
      %9 = relu %8 : f32[2]
      yield %9
    }
    %10 = fused : f32[2] {
      %11 = const {value = [1, 2]} : f32[2]
      yield %11
    }
    %12 = add %7, %10 : f32[2]
    ret %2, %3, %12, %5
  }
}
# ---- elementwise ----
# Elementwise ops, with and without broadcasting.
# run:
module @elementwise {
  graph @main(%x: f32[B, 4], %y: f32[4], %p: bool[B, 4], %i: i32[4]) -> (f32[B, 4], bool[B, 4], i32[4], f16[B, 4], u32[B, 4]) {
    %0 = neg %x
    %1 = abs %0
    %2 = sign %1
    %3 = sqrt %2
    %4 = rsqrt %3
    %5 = recip %4
    %6 = exp %5
    %7 = log %6
    %8 = log1p %7
    %9 = sin %8
    %10 = cos %9
    %11 = tanh %10
    %12 = erf %11
    %13 = sigmoid %12
    %14 = relu %13
    %15 = softplus %14
    %16 = floor %15
    %17 = ceil %16
    %18 = round %17
    %19 = trunc %18
    %20 = add %19, %y
    %21 = sub %20, %y
    %22 = mul %21, %y
    %23 = div %22, %y
    %24 = mod %23, %y
    %25 = pow %24, %y
    %26 = min %25, %y
    %27 = max %26, %y
    %28 = mod %27, %y {truncate}
    %29 = eq %28, %y
    %30 = and %p, %29
    %31 = ne %28, %y
    %32 = xor %30, %31
    %33 = lt %28, %y
    %34 = or %32, %33
    %35 = le %28, %y
    %36 = and %34, %35
    %37 = gt %28, %y
    %38 = xor %36, %37
    %39 = ge %28, %y
    %40 = or %38, %39
    %41 = isnan %28
    %42 = isinf %28 {skip_positive, skip_negative = false}
    %43 = and %41, %42
    %44 = or %43, %40
    %45 = not %44
    %46 = xor %45, %40
    %47 = where %46, %28, %y
    %48 = cast %47 {to = f16, saturate}
    %49 = shl %i, %i
    %50 = shr %49, %i
    %51 = bitcast %28 {to = u32}
    ret %47, %46, %50, %48, %51
  }
}
# expect:
module @elementwise {
  graph @main(%x: f32[B, 4], %y: f32[4], %p: bool[B, 4], %i: i32[4]) -> (f32[B, 4], bool[B, 4], i32[4], f16[B, 4], u32[B, 4]) {
    %0 = neg %x : f32[B, 4]
    %1 = abs %0 : f32[B, 4]
    %2 = sign %1 : f32[B, 4]
    %3 = sqrt %2 : f32[B, 4]
    %4 = rsqrt %3 : f32[B, 4]
    %5 = recip %4 : f32[B, 4]
    %6 = exp %5 : f32[B, 4]
    %7 = log %6 : f32[B, 4]
    %8 = log1p %7 : f32[B, 4]
    %9 = sin %8 : f32[B, 4]
    %10 = cos %9 : f32[B, 4]
    %11 = tanh %10 : f32[B, 4]
    %12 = erf %11 : f32[B, 4]
    %13 = sigmoid %12 : f32[B, 4]
    %14 = relu %13 : f32[B, 4]
    %15 = softplus %14 : f32[B, 4]
    %16 = floor %15 : f32[B, 4]
    %17 = ceil %16 : f32[B, 4]
    %18 = round %17 : f32[B, 4]
    %19 = trunc %18 : f32[B, 4]
    %20 = add %19, %y : f32[B, 4]
    %21 = sub %20, %y : f32[B, 4]
    %22 = mul %21, %y : f32[B, 4]
    %23 = div %22, %y : f32[B, 4]
    %24 = mod %23, %y : f32[B, 4]
    %25 = pow %24, %y : f32[B, 4]
    %26 = min %25, %y : f32[B, 4]
    %27 = max %26, %y : f32[B, 4]
    %28 = mod %27, %y {truncate} : f32[B, 4]
    %29 = eq %28, %y : bool[B, 4]
    %30 = and %p, %29 : bool[B, 4]
    %31 = ne %28, %y : bool[B, 4]
    %32 = xor %30, %31 : bool[B, 4]
    %33 = lt %28, %y : bool[B, 4]
    %34 = or %32, %33 : bool[B, 4]
    %35 = le %28, %y : bool[B, 4]
    %36 = and %34, %35 : bool[B, 4]
    %37 = gt %28, %y : bool[B, 4]
    %38 = xor %36, %37 : bool[B, 4]
    %39 = ge %28, %y : bool[B, 4]
    %40 = or %38, %39 : bool[B, 4]
    %41 = isnan %28 : bool[B, 4]
    %42 = isinf %28 {skip_positive, skip_negative = false} : bool[B, 4]
    %43 = and %41, %42 : bool[B, 4]
    %44 = or %43, %40 : bool[B, 4]
    %45 = not %44 : bool[B, 4]
    %46 = xor %45, %40 : bool[B, 4]
    %47 = where %46, %28, %y : f32[B, 4]
    %48 = cast %47 {to = f16, saturate} : f16[B, 4]
    %49 = shl %i, %i : i32[4]
    %50 = shr %49, %i : i32[4]
    %51 = bitcast %28 {to = u32} : u32[B, 4]
    ret %47, %46, %50, %48, %51
  }
}
# ---- file ----
# Constants that are parts of a file beside the text.
# run:
module @files {
  weight @a : f32[4] = file("weights.bin", 0, 16)
  weight @b : i4[3] = file("weights.bin", 63, 1)
  weight @none : f32[0] = file("weights.bin", 64, 0)
  table @t : i8<rowwise f32>[2, 8] = file("weights.bin", 32, 32)
  graph @main() -> (f32[4], u8[2]) {
    %0 = neg @a
    %1 = const {value = file("weights.bin", 1, 2)} : u8[2]
    ret %0, %1
  }
}
# expect-error: 5:28: the type has 2 bytes, not 1
# ---- forest ----
# Tree ensembles.
# run: infer
module @forest {
  graph @main(%x: f32[N, 4], %t: f32[7], %n: i64[7], %s: i64[2, 2], %l: i32[7], %w: f32[3, 1]) -> (f32[N, A], f32[N, B]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 3} : f32[N, A]
    %1 = forest %x, %t, %n, %s, %l, %w {targets = 1, op = max} : f32[N, B]
    ret %0, %1
  }
}
# expect:
module @forest {
  graph @main(
      %x: f32[N, 4],
      %t: f32[7],
      %n: i64[7],
      %s: i64[2, 2],
      %l: i32[7],
      %w: f32[3, 1]) -> (f32[N, 3], f32[N, 1]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 3} : f32[N, 3]
    %1 = forest %x, %t, %n, %s, %l, %w {targets = 1, op = max} : f32[N, 1]
    ret %0, %1
  }
}
# ---- graph ----
# Heads of graphs: names of users, private and entry graphs, no arguments, no results.
# run:
module @"a module/with \"quotes\"" {
  graph @main(%0: f32[2], %x "x.1": f32[2], %y "input:0": f32[2], %y_1 "input:0": f32[2]) -> (f32[2] "out", f32[2], f32[2] "out:0") {
    %1 = add %0, %x
    %2 = add %y, %y_1
    ret %1, %2, %0
  }
  graph @empty() {
    ret
  }
  private graph @body(%a: f32[], %7: f32[]) -> (f32[]) {
    ret %7
  }
  entry kernel @first(%b: &f32) { ret }
  graph @many(%p: f32[], %q: f32[], %r: f32[], %s: f32[], %t: f32[]) -> (f32[]) { ret %t }
}
# expect:
module @"a module/with \"quotes\"" {
  graph @main(%0: f32[2], %x.1: f32[2], %input_0 "input:0": f32[2], %input_0_1 "input:0": f32[2]) -> (f32[2] "out", f32[2], f32[2] "out:0") {
    %1 = add %0, %x.1 : f32[2]
    %2 = add %input_0, %input_0_1 : f32[2]
    ret %1, %2, %0
  }
  graph @empty() {
    ret
  }
  private graph @body(%a: f32[], %0: f32[]) -> (f32[]) {
    ret %0
  }
  entry kernel @first(%b: &f32) {
    ret
  }
  graph @many(
      %p: f32[],
      %q: f32[],
      %r: f32[],
      %s: f32[],
      %t: f32[]) -> (f32[]) {
    ret %t
  }
}
# ---- host ----
# Sequences: values that live on the host.
# run:
module @host {
  graph @main(%x: f32[N, 4], %s: seq<f32[M, 4]>, %o: opt<seq<f32[K]>>, %n: i64[]) -> (seq<f32[P, 4]>, f32[Q, 4], i64[], f32[U, 4]) {
    %0 = seq_empty {of = f32} : seq<f32[P, 4]>
    %1 = seq_make %x, %x
    %2 = seq_insert %1, %x
    %3 = seq_insert %2, %x, %n
    %4 = seq_erase %3, %n
    %5 = seq_erase %4
    %6 = seq_at %5, %n : f32[Q, 4]
    %7 = seq_length %5
    %8 = seq_concat %5 {axis = 0} : f32[U, 4]
    %9 = seq_concat %5 {axis = 0, stack}
    %10 = split_to_seq %x {axis = 0, keep}
    %11 = split_to_seq %x, %n {axis = 0, keep = false}
    ret %0, %6, %7, %8
  }
}
# expect:
module @host {
  graph @main(%x: f32[N, 4], %s: seq<f32[M, 4]>, %o: opt<seq<f32[K]>>, %n: i64[]) -> (seq<f32[P, 4]>, f32[Q, 4], i64[], f32[U, 4]) {
    %0 = seq_empty {of = f32} : seq<f32[P, 4]>
    %1 = seq_make %x, %x : seq<f32[N, 4]>
    %2 = seq_insert %1, %x : seq<f32[N, 4]>
    %3 = seq_insert %2, %x, %n : seq<f32[N, 4]>
    %4 = seq_erase %3, %n : seq<f32[N, 4]>
    %5 = seq_erase %4 : seq<f32[N, 4]>
    %6 = seq_at %5, %n : f32[Q, 4]
    %7 = seq_length %5 : i64[]
    %8 = seq_concat %5 {axis = 0} : f32[U, 4]
    %9 = seq_concat %5 {axis = 0, stack} : f32[n, n2, 4]
    %10 = split_to_seq %x {axis = 0, keep} : seq<f32[1, 4]>
    %11 = split_to_seq %x, %n {axis = 0, keep = false} : seq<f32[s, 4]>
    ret %0, %6, %7, %8
  }
}
# ---- images ----
# Encoded images: extents are what the file says, channels what the op does.
# run:
module @images {
  graph @main(%x: u8[N]) -> (u8[H, W, 3], u8[I, V, 3], u8[J, U, 1]) {
    %0 = image_decode %x : u8[H, W, 3]
    %1 = image_decode %x {order = bgr} : u8[I, V, 3]
    %2 = image_decode %x {order = gray} : u8[J, U, 1]
    ret %0, %1, %2
  }
}
# expect:
module @images {
  graph @main(%x: u8[N]) -> (u8[H, W, 3], u8[I, V, 3], u8[J, U, 1]) {
    %0 = image_decode %x : u8[H, W, 3]
    %1 = image_decode %x {order = bgr} : u8[I, V, 3]
    %2 = image_decode %x {order = gray} : u8[J, U, 1]
    ret %0, %1, %2
  }
}
# ---- index ----
# Gathering and scattering.
# run:
module @index {
  weight @w : f32[10, 4] = splat(1)
  graph @main(%i: i64[N, 2], %x: f32[B, 8], %k: i64[B, 3], %j: i64[M, 1], %o: i32[E]) -> (f32[N, 2, 4], f32[B, 3], f32[B, 8], f32[M, 8], f32[E - 1, 5, 8], f32[B, 8]) {
    %0 = gather @w, %i {axis = 0, negative = error} : f32[N, 2, 4]
    %1 = gather_elements %x, %k {axis = 1} : f32[B, 3]
    %2 = scatter_elements %x, %k, %1 {axis = 1} : f32[B, 8]
    %3 = gather_nd %x, %j {batch = 0} : f32[M, 8]
    %4 = jagged_to_padded %x, %o {length = 5, padding = -inf} : f32[E - 1, 5, 8]
    %5 = padded_to_jagged %4, %o {rows = B} : f32[B, 8]
    ret %0, %1, %2, %3, %4, %5
  }
}
# expect:
module @index {
  weight @w : f32[10, 4] = splat(1)
  graph @main(
      %i: i64[N, 2],
      %x: f32[B, 8],
      %k: i64[B, 3],
      %j: i64[M, 1],
      %o: i32[E]) -> (f32[N, 2, 4], f32[B, 3], f32[B, 8], f32[M, 8], f32[E - 1, 5, 8], f32[B, 8]) {
    %0 = gather @w, %i {axis = 0, negative = error} : f32[N, 2, 4]
    %1 = gather_elements %x, %k {axis = 1} : f32[B, 3]
    %2 = scatter_elements %x, %k, %1 {axis = 1} : f32[B, 8]
    %3 = gather_nd %x, %j {batch = 0} : f32[M, 8]
    %4 = jagged_to_padded %x, %o {length = 5, padding = -inf} : f32[E - 1, 5, 8]
    %5 = padded_to_jagged %4, %o {rows = B} : f32[B, 8]
    ret %0, %1, %2, %3, %4, %5
  }
}
# ---- kernel ----
# Kernel form: every op that only kernels have, and shared ones on vectors.
# run:
module @kernel {
  kernel @k(%x: &f32, %y: &f32, %q: &i8, %n: i64, %m: i64) {
    %0, %1 = tiles : i64, i64
    %2 = local {count = 64} : &f32
    %3 = shared {count = 128} : &f32
    %4 = scratch {offset = 0} : &f64
    %5 = thread : i64
    %6 = const {value = 1} : i64
    %7 = const {value = [0, 1, 2, 3]} : i64<4>
    %8 = iota : i64<4>
    %9 = splat %n : i64<4>
    %10 = mul %8, %9
    %11 = load_at %x, %10 : f32<4>
    %12 = const {value = 0} : f32
    for %0, %1, %6 {unroll = 4} (%i: i64) {
      %13 = load %x, %i, %n {invariant} : f32<4>
      %14 = muladd %13, %11, %13 : f32<4>
      %15 = for %0, %n, %6, %14 : f32<4> (%j: i64, %s: f32<4>) {
        %16 = offset %x, %j : &f32
        %17 = load %16, %i : f32<4>
        %18 = max %17, %s
        prefetch %x, %j {level = 2}
        yield %18
      }
      %19 = shuffle %15, %14 {lanes = [0, 4, 1, 5]} : f32<4>
      %20 = hreduce %19 {op = max} : f32
      %21 = extract %19, %6 : f32
      %22 = add %20, %21
      store %19, %y, %i, %n
      store %22, %2, %i
      yield
    }
    barrier
    %23 = buffer_at %x, %n : &f32
    %24 = param_at %n, %n : i64
    %25 = reinterpret %q : &u8
    %26 = load %q, %24 : i8
    %27 = cast %26 {to = f32}
    %28 = reinterpret %27 : u32
    %29 = gt %27, %12
    if %29 {
      report %6, %24, %n
      yield
    } else {
      yield
    }
    %30 = load %q, %24 : i8<8>
    %31 = reinterpret %30 : u8<8>
    %32 = reinterpret %30 : i32<2>
    %33 = dot4 %31, %30, %32 : i32<2>
    %34 = reinterpret %30 : i16<4>
    %35 = dot2 %31, %30, %34 : i16<4>
    %36 = add_pairs %35, %32 : i32<2>
    %37 = reinterpret %2 : &i32
    dot4_block %25, %24, %q, %24, %37, %6, %n, %m {panels = 4, adds}
    %38 = mma %12, %12, %12, %12, %12, %12, %11 : f32<4>
    %39 = swap %12 {bit = 4} : f32
    %40 = mul_exp2 %12, %39 : f32
    ret
  }
}
# expect:
module @kernel {
  kernel @k(
      %x: &f32,
      %y: &f32,
      %q: &i8,
      %n: i64,
      %m: i64) {
    %0, %1 = tiles : i64, i64
    %2 = local {count = 64} : &f32
    %3 = shared {count = 128} : &f32
    %4 = scratch {offset = 0} : &f64
    %5 = thread : i64
    %6 = const {value = 1} : i64
    %7 = const {value = [0, 1, 2, 3]} : i64<4>
    %8 = iota : i64<4>
    %9 = splat %n : i64<4>
    %10 = mul %8, %9 : i64<4>
    %11 = load_at %x, %10 : f32<4>
    %12 = const {value = 0} : f32
    for %0, %1, %6 {unroll = 4} (%i: i64) {
      %13 = load %x, %i, %n {invariant} : f32<4>
      %14 = muladd %13, %11, %13 : f32<4>
      %15 = for %0, %n, %6, %14 : f32<4> (%j: i64, %s: f32<4>) {
        %16 = offset %x, %j : &f32
        %17 = load %16, %i : f32<4>
        %18 = max %17, %s : f32<4>
        prefetch %x, %j {level = 2}
        yield %18
      }
      %19 = shuffle %15, %14 {lanes = [0, 4, 1, 5]} : f32<4>
      %20 = hreduce %19 {op = max} : f32
      %21 = extract %19, %6 : f32
      %22 = add %20, %21 : f32
      store %19, %y, %i, %n
      store %22, %2, %i
      yield
    }
    barrier
    %23 = buffer_at %x, %n : &f32
    %24 = param_at %n, %n : i64
    %25 = reinterpret %q : &u8
    %26 = load %q, %24 : i8
    %27 = cast %26 {to = f32} : f32
    %28 = reinterpret %27 : u32
    %29 = gt %27, %12 : bool
    if %29 {
      report %6, %24, %n
      yield
    } else {
      yield
    }
    %30 = load %q, %24 : i8<8>
    %31 = reinterpret %30 : u8<8>
    %32 = reinterpret %30 : i32<2>
    %33 = dot4 %31, %30, %32 : i32<2>
    %34 = reinterpret %30 : i16<4>
    %35 = dot2 %31, %30, %34 : i16<4>
    %36 = add_pairs %35, %32 : i32<2>
    %37 = reinterpret %2 : &i32
    dot4_block %25, %24, %q, %24, %37, %6, %n, %m {panels = 4, adds}
    %38 = mma %12, %12, %12, %12, %12, %12, %11 : f32<4>
    %39 = swap %12 {bit = 4} : f32
    %40 = mul_exp2 %12, %39 : f32
    ret
  }
}
# ---- network ----
# Normalisation over channels, attention, recurrent layers, resampling, further functions.
# run: infer
module @network {
  graph @main(%x: f32[N, 6, H, 32], %c: f32[6], %q: f32[B, 4, L, 16], %k: f32[B, 4, S, 16], %m: bool[L, S], %s: f32[T, B, 5], %h: f32[B, 8], %w: f32[32, 5], %r: f32[32, 8], %b: f32[32], %n: i64[B], %g: f32[N, 3, 4, 2]) -> (f32[N, 6, H, 32], f32[B, 4, L, 16], f32[T, B, 8], f32[B, 8], f32[B, 8], f32[N, 6, 2*H, 64], f32[N, 6, 3, 4], f32[N, 6, 3, 4], f32[N, 6, H, 32]) {
    %0 = batch_norm %x, %c, %c, %c, %c {epsilon = 1e-05} : f32[N, 6, H, 32]
    %1 = group_norm %0, %c, %c {groups = 3, epsilon = 1e-05} : f32[N, 6, H, 32]
    %2 = layer_norm %1 {axis = 3, epsilon = 1e-05, rms} : f32[N, 6, H, 32]
    %3 = attention %q, %k, %k, %m {scale = 0.25, causal} : f32[B, 4, L, 16]
    %4, %5, %6 = rnn %s, %h, %h, %w, %r, %b, %b, %n {reverse, given = 1} : f32[T, B, 8], f32[B, 8], f32[B, 8]
    %7 = resize %2 {sizes = [N, 6, 2*H, 64], mode = linear, coordinates = align_corners} : f32[N, 6, 2*H, 64]
    %8 = grid_sample %2, %g {mode = linear, outside = border} : f32[N, 6, 3, 4]
    %9 = gelu %8 {tanh} : f32[N, 6, 3, 4]
    %10 = tan %9 : f32[N, 6, 3, 4]
    %11 = asin %10 : f32[N, 6, 3, 4]
    %12 = acos %11 : f32[N, 6, 3, 4]
    %13 = atan %12 : f32[N, 6, 3, 4]
    %14 = sinh %13 : f32[N, 6, 3, 4]
    %15 = cosh %14 : f32[N, 6, 3, 4]
    %16 = asinh %15 : f32[N, 6, 3, 4]
    %17 = acosh %16 : f32[N, 6, 3, 4]
    %18 = atanh %17 : f32[N, 6, 3, 4]
    %19 = exp2 %18 : f32[N, 6, 3, 4]
    %20 = expm1 %19 : f32[N, 6, 3, 4]
    %21 = log2 %20 : f32[N, 6, 3, 4]
    %22 = log10 %21 : f32[N, 6, 3, 4]
    %23 = erfc %22 : f32[N, 6, 3, 4]
    %24 = atan2 %23, %8 : f32[N, 6, 3, 4]
    %25 = group_norm_last %2 {groups = 8, epsilon = 1e-05} : f32[N, 6, H, 32]
    ret %2, %3, %4, %5, %6, %7, %8, %24, %25
  }
}
# expect:
module @network {
  graph @main(
      %x: f32[N, 6, H, 32],
      %c: f32[6],
      %q: f32[B, 4, L, 16],
      %k: f32[B, 4, S, 16],
      %m: bool[L, S],
      %s: f32[T, B, 5],
      %h: f32[B, 8],
      %w: f32[32, 5],
      %r: f32[32, 8],
      %b: f32[32],
      %n: i64[B],
      %g: f32[N, 3, 4, 2]) -> (f32[N, 6, H, 32], f32[B, 4, L, 16], f32[T, B, 8], f32[B, 8], f32[B, 8], f32[N, 6, 2*H, 64], f32[N, 6, 3, 4], f32[N, 6, 3, 4], f32[N, 6, H, 32]) {
    %0 = batch_norm %x, %c, %c, %c, %c {epsilon = 1e-05} : f32[N, 6, H, 32]
    %1 = group_norm %0, %c, %c {groups = 3, epsilon = 1e-05} : f32[N, 6, H, 32]
    %2 = layer_norm %1 {axis = 3, epsilon = 1e-05, rms} : f32[N, 6, H, 32]
    %3 = attention %q, %k, %k, %m {scale = 0.25, causal} : f32[B, 4, L, 16]
    %4, %5, %6 = rnn %s, %h, %h, %w, %r, %b, %b, %n {reverse, given = 1} : f32[T, B, 8], f32[B, 8], f32[B, 8]
    %7 = resize %2 {sizes = [N, 6, 2*H, 64], mode = linear, coordinates = align_corners} : f32[N, 6, 2*H, 64]
    %8 = grid_sample %2, %g {mode = linear, outside = border} : f32[N, 6, 3, 4]
    %9 = gelu %8 {tanh} : f32[N, 6, 3, 4]
    %10 = tan %9 : f32[N, 6, 3, 4]
    %11 = asin %10 : f32[N, 6, 3, 4]
    %12 = acos %11 : f32[N, 6, 3, 4]
    %13 = atan %12 : f32[N, 6, 3, 4]
    %14 = sinh %13 : f32[N, 6, 3, 4]
    %15 = cosh %14 : f32[N, 6, 3, 4]
    %16 = asinh %15 : f32[N, 6, 3, 4]
    %17 = acosh %16 : f32[N, 6, 3, 4]
    %18 = atanh %17 : f32[N, 6, 3, 4]
    %19 = exp2 %18 : f32[N, 6, 3, 4]
    %20 = expm1 %19 : f32[N, 6, 3, 4]
    %21 = log2 %20 : f32[N, 6, 3, 4]
    %22 = log10 %21 : f32[N, 6, 3, 4]
    %23 = erfc %22 : f32[N, 6, 3, 4]
    %24 = atan2 %23, %8 : f32[N, 6, 3, 4]
    %25 = group_norm_last %2 {groups = 8, epsilon = 1e-05} : f32[N, 6, H, 32]
    ret %2, %3, %4, %5, %6, %7, %8, %24, %25
  }
}
# ---- plan ----
# Plans: buffers, views, launches before and after lowering, row blocks.
# run:
module @plan {
  symbol B {min = 1, max = 4096, origin = "dim 0 of input 'x'"}
  weight @w : f32[8, 4] = splat(1)
  plan @main(%x: f32[B, 8], %c: bool[]) -> (&f32[B, 8] "y") {
    guard le(B, 4096) "the batch is too large"
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    compute %x, @w, %1 {family = "dot", outs = 1} (%a: f32[B, 8], %b: f32[8, 4]) {
      %3 = matmul %a, %b
      %4 = relu %3
      yield %4
    }
    if %c {
      rows %1, %2 {count = B, block = 64, symbol = r} {
        launch %1, %2 {kernel = @copy, outs = 1, grid = ceil(B / 64), params = [r, 8*r], scratch = 256, cost = 12*B + 100}
        yield
      }
      yield
    } else {
      launch %x, %2 {kernel = @copy, outs = 1, grid = 1, params = [B, 8]}
      yield
    }
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32, %rows: i64, %n: i64) {
    ret
  }
}
# expect:
module @plan {
  symbol B {min = 1, max = 4096, origin = "dim 0 of input 'x'"}
  weight @w : f32[8, 4] = splat(1)
  plan @main(%x: f32[B, 8], %c: bool[]) -> (&f32[B, 8] "y") {
    guard le(B, 4096) "the batch is too large"
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    compute %x, @w, %1 {family = "dot", outs = 1} (%a: f32[B, 8], %b: f32[8, 4]) {
      %3 = matmul %a, %b : f32[B, 4]
      %4 = relu %3 : f32[B, 4]
      yield %4
    }
    if %c {
      rows %1, %2 {count = B, block = 64, symbol = r} {
        launch %1, %2 {kernel = @copy, outs = 1, grid = ceil(B / 64), params = [r, 8*r], scratch = 256, cost = 12*B + 100}
        yield
      }
      yield
    } else {
      launch %x, %2 {kernel = @copy, outs = 1, grid = 1, params = [B, 8]}
      yield
    }
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32, %rows: i64, %n: i64) {
    ret
  }
}
# ---- ranks ----
# What the program of a rank is made of.
# run:
module @ranks {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) {
    %0 = shard @a {world = 2, rank = 1, parts = [0, 0, 4, 0, 1, 1, 0, 4, 1, 1]}
    %1, %2, %3 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 2, pool = mean, padding = 1, last = offset, negative = skip, range = clamp, offsets = slice}
    %4, %5, %6, %7, %8, %9 = deal %1, %2, %3 {world = 2, starts = [0, 3], ranks = [1, 0], bases = [0, 0], keep = true}
    %10, %11, %12, %13 = all_to_all %4, %5, %6, %7 {rank = 0}
    %14 = bag %0, %12 {operands = [0], pool = [none]}
    %15 = reduce_scatter %14, %13 {rank = 0}
    %16, %17 = all_reduce %14, %w {world = 4}
    %18, %19 = all_gather %16, %ids {world = 4}
    ret %15, %17, %18, %19
  }
}
# expect:
module @ranks {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[came3, 2], f32[N], f32[4*came2, 2], i64[4*N]) {
    %0 = shard @a {world = 2, rank = 1, parts = [0, 0, 4, 0, 1, 1, 0, 4, 1, 1]} : f32[4, 2]
    %1, %2, %3 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 2, padding = 1, pool = mean, last = offset, negative = skip, range = clamp, offsets = slice} : i64[B - 1], i64[ids], f32[ids]
    %4, %5, %6, %7, %8, %9 = deal %1, %2, %3 {world = 2, starts = [0, 3], ranks = [1, 0], bases = [0, 0], keep} : i64[2*B - 2], i64[2], i64[dealt], i64[2], i64[ids], f32[dealt]
    %10, %11, %12, %13 = all_to_all %4, %5, %6, %7 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %14 = bag %0, %12 {operands = [0], pool = [none]} : f32[came2, 2]
    %15 = reduce_scatter %14, %13 {rank = 0} : f32[came3, 2]
    %16, %17 = all_reduce %14, %w {world = 4} : f32[came2, 2], f32[N]
    %18, %19 = all_gather %16, %ids {world = 4} : f32[4*came2, 2], i64[4*N]
    ret %15, %17, %18, %19
  }
}
# ---- recommend ----
# Embedding bags and interactions.
# run:
module @recommend {
  table @t0 : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  weight @t1 : f32[8, 4] = splat(1)
  graph @main(
      %ids: i64[N],
      %off: i64[B],
      %ids2: i64[B, 3],
      %w: f32[N],
      %x: f32[B, 4, 8]) -> (f32[B, 2], f32[B, 4], f32[B, 6]) {
    %0, %1 = bag @t0, %ids, %off, %w, @t1, %ids2 {operands = [5, 0], pool = [sum, mean], padding = [-9223372036854775808, 0], last = [ids, ids], empty = [nan, zero], negative = error, range = clamp} : f32[B, 2], f32[B, 4]
    %2 = interact %x {pairs = [4, 8, 9, 12, 13, 14]} : f32[B, 6]
    ret %0, %1, %2
  }
}
# expect:
module @recommend {
  table @t0 : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  weight @t1 : f32[8, 4] = splat(1)
  graph @main(
      %ids: i64[N],
      %off: i64[B],
      %ids2: i64[B, 3],
      %w: f32[N],
      %x: f32[B, 4, 8]) -> (f32[B, 2], f32[B, 4], f32[B, 6]) {
    %0, %1 = bag @t0, %ids, %off, %w, @t1, %ids2 {operands = [5, 0], pool = [sum, mean], padding = [-9223372036854775808, 0], last = [ids, ids], empty = [nan, zero], negative = error, range = clamp} : f32[B, 2], f32[B, 4]
    %2 = interact %x {pairs = [4, 8, 9, 12, 13, 14]} : f32[B, 6]
    ret %0, %1, %2
  }
}
# ---- shape ----
# Ops on shapes, and ops that move elements.
# run:
module @shape {
  graph @main(%x: f32[B, 4, 6], %n: i64[2], %v: f32[]) -> (i64[3], i64[], f32[B, 24]) {
    %0 = shape %x
    %1 = size %x
    %2 = reshape %x {to = [B, 24]}
    %3 = reshape %x, %n : f32[P, Q]
    %4 = transpose %x {perm = [0, 2, 1]}
    %5 = expand %v {to = [B, 6, 4]}
    %6 = add %4, %5
    %7 = slice %6 {starts = [0, 0, 0], sizes = [B, 2, 4], steps = [1, 2, 1]}
    %8 = slice %6 {starts = [0, 0, 0], sizes = [B, 4, 4]}
    %9 = concat %7, %8 {axis = 1}
    %10 = pad %9 {before = [0, 1, 0], after = [0, 1, 0], mode = reflect}
    %11 = pad %9, %v {before = [0, 0, 0], after = [0, 0, 1]}
    %12 = const {value = 0} : i64[]
    %13 = const {value = 1} : i64[]
    %14 = range %12, %1, %13 : i64[R]
    %15 = const {value = [1, 2, 1]} : i64[3]
    %16 = tile %x, %15
    ret %0, %1, %2
  }
}
# expect:
module @shape {
  graph @main(%x: f32[B, 4, 6], %n: i64[2], %v: f32[]) -> (i64[3], i64[], f32[B, 24]) {
    %0 = shape %x : i64[3]
    %1 = size %x : i64[]
    %2 = reshape %x {to = [B, 24]} : f32[B, 24]
    %3 = reshape %x, %n : f32[P, Q]
    %4 = transpose %x {perm = [0, 2, 1]} : f32[B, 6, 4]
    %5 = expand %v {to = [B, 6, 4]} : f32[B, 6, 4]
    %6 = add %4, %5 : f32[B, 6, 4]
    %7 = slice %6 {starts = [0, 0, 0], sizes = [B, 2, 4], steps = [1, 2, 1]} : f32[B, 2, 4]
    %8 = slice %6 {starts = [0, 0, 0], sizes = [B, 4, 4]} : f32[B, 4, 4]
    %9 = concat %7, %8 {axis = 1} : f32[B, 6, 4]
    %10 = pad %9 {before = [0, 1, 0], after = [0, 1, 0], mode = reflect} : f32[B, 8, 4]
    %11 = pad %9, %v {before = [0, 0, 0], after = [0, 0, 1]} : f32[B, 6, 5]
    %12 = const {value = 0} : i64[]
    %13 = const {value = 1} : i64[]
    %14 = range %12, %1, %13 : i64[R]
    %15 = const {value = [1, 2, 1]} : i64[3]
    %16 = tile %x, %15 : f32[B, 8, 6]
    ret %0, %1, %2
  }
}
# ---- signature ----
# How arguments and results form a call, and what outlives it.
# run:
module @calls {
  weight @count : i64[] = 0
  weight @seen : f32[0] = []
  graph @main(%0 "f.values": f32[V], %1 "f.lengths": i64[L], %x: f32[3], %n: i64[],
      %count: i64[] = @count, %seen: f32[S] = @seen)
      -> (f32[V] "y", i64[], f32[3], i64[], f32[S])
      as "a method"(f: kjt(keys=["a", "b \"c\""], values=tensor, lengths=tensor,
                           weights=none,), x: tensor, n: int, by: [2, -7, 2.5, nan, true])
      -> {"y": tensor, 7: (int,), "p": Point(x=(), "y z"=[])} after x: tensor {
    %2 = neg %0
    %3 = add %n, %count
    %4 = add %x, %x
    ret %2, %3, %4, %3, %seen
  }
}
# expect:
module @calls {
  weight @count : i64[] = 0
  weight @seen : f32[0] = []
  graph @main(
      %f.values: f32[V],
      %f.lengths: i64[L],
      %x: f32[3],
      %n: i64[],
      %count: i64[] = @count,
      %seen: f32[S] = @seen) -> (f32[V] "y", i64[], f32[3], i64[], f32[S])
      as "a method"(f: kjt(keys=["a", "b \"c\""], values=tensor, lengths=tensor, weights=none), x: tensor, n: int, by: [2, -7, 2.5, nan, true]) -> {"y": tensor, 7: (int,), "p": Point(x=(), "y z"=[])} after x: tensor {
    %0 = neg %f.values : f32[V]
    %1 = add %n, %count : i64[]
    %2 = add %x, %x : f32[3]
    ret %0, %1, %2, %1, %seen
  }
}
# ---- symbol ----
# Dimension expressions in normal form; symbols with facts, or defined by expressions.
# run:
module @symbols {
  symbol B {min = 1, max = 64, multiple = 8, origin = "dim 0 of input \"x\""}
  symbol d {min = -5, max = 10, defined = 2*B - 6}
  symbol big {defined = (B + (N*N))}
  symbol wide {defined = (A*B * (C*D))}
  symbol unused {max = 7}
  graph @main(%x: f32[N, B, A, C, D], %y: f32[big, wide, d]) -> (i64[13]) {
    %0 = dims {values = [B + N, N + B, 3 - B, B*2*N*B, min(N, 4), max(A, N), floor(N / 4), ceil((N + 3) / 4), exact(N*A / C), bcast(N, A), (B + 1)*(B - 1), -9223372036854775808, floor(min(N, A)*2 / (B + C))]} : i64[13]
    ret %0
  }
}
# expect:
module @symbols {
  symbol B {min = 1, max = 64, multiple = 8, origin = "dim 0 of input \"x\""}
  symbol d {min = -5, max = 10, defined = 2*B - 6}
  symbol big {defined = (B + (N*N))}
  symbol wide {defined = (A*B * (C*D))}
  graph @main(%x: f32[N, B, A, C, D], %y: f32[big, wide, d]) -> (i64[13]) {
    %0 = dims {values = [B + N, B + N, -B + 3, 2*B*B*N, min(N, 4), max(A, N), floor(N / 4), floor((N + 2) / 4) + 1, exact(A*N / C), bcast(N, A), B*B - 1, -9223372036854775808, floor(2*min(A, N) / (B + C))]} : i64[13]
    ret %0
  }
}
# ---- tables ----
# Formats of rows.
# run:
module @tables {
  table @a : u8<rowwise f16 stride 8>[2, 2] = inline(0x003c000001020000003c000001020000)
  table @b : u8<rowwise float 4 7>[1, 4] = inline(0x38b80001)
  table @c : u4<rowwise f16 behind>[1, 2] = inline(0x21003c0000)
  table @d : u2<rowwise f32 front stride 16>[1, 4] = inline(0x0000803f00000000e400000000000000)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]) {
    %0, %1, %2, %3 = bag @a, %ids, %off, @b, %ids, %off, @c, %ids, %off, @d, %ids, %off {operands = [1, 1, 1, 1], pool = [sum, mean, none, sum], last = [offset, offset, offset, offset], negative = skip, range = first, offsets = clamp, to = f16} : f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]
    ret %0, %1, %2, %3
  }
}
# expect:
module @tables {
  table @a : u8<rowwise f16 stride 8>[2, 2] = inline(0x003c000001020000003c000001020000)
  table @b : u8<rowwise float 4 7>[1, 4] = inline(0x38b80001)
  table @c : u4<rowwise f16 behind>[1, 2] = inline(0x21003c0000)
  table @d : u2<rowwise f32 front stride 16>[1, 4] = inline(0x0000803f00000000e400000000000000)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]) {
    %0, %1, %2, %3 = bag @a, %ids, %off, @b, %ids, %off, @c, %ids, %off, @d, %ids, %off {operands = [1, 1, 1, 1], pool = [sum, mean, none, sum], last = [offset, offset, offset, offset], negative = skip, range = first, offsets = clamp, to = f16} : f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]
    ret %0, %1, %2, %3
  }
}
# ---- texts ----
# Texts: what is done to them, and lists that they come from.
# run:
module @texts {
  graph @main(%x: str[N, 4], %y: str[N, 4], %r: str[M], %f: f32[N]) -> (bool[N, 4], i64[N, 4], str[N, 4, P], str[Q], f64[N, 4], str[N], bool[N, 4], str[2]) {
    %0 = const {value = [104, 105, 0, 0]} : u8[4]
    %1 = text_of %0 {shape = [2]}
    %2 = text_eq %x, %y
    %3 = text_join %x, %y
    %4 = text_find %3, %0
    %5 = text_match %3, %0
    %6 = text_parse %x {to = f64}
    %7 = text_print %f
    %8, %9 = text_split %x, %0 {max = 2} : str[N, 4, P], i64[N, 4]
    %10 = text_clean %r, %0, %0 {letters = upper, insensitive} : str[Q]
    %11 = text_clean %r, %0, %0 : str[K]
    %12 = text_parse %x {to = i64}
    %13 = text_order %x
    ret %2, %4, %8, %10, %6, %7, %5, %1
  }
}
# expect:
module @texts {
  graph @main(%x: str[N, 4], %y: str[N, 4], %r: str[M], %f: f32[N]) -> (bool[N, 4], i64[N, 4], str[N, 4, P], str[Q], f64[N, 4], str[N], bool[N, 4], str[2]) {
    %0 = const {value = [104, 105, 0, 0]} : u8[4]
    %1 = text_of %0 {shape = [2]} : str[2]
    %2 = text_eq %x, %y : bool[N, 4]
    %3 = text_join %x, %y : str[N, 4]
    %4 = text_find %3, %0 : i64[N, 4]
    %5 = text_match %3, %0 : bool[N, 4]
    %6 = text_parse %x {to = f64} : f64[N, 4]
    %7 = text_print %f : str[N]
    %8, %9 = text_split %x, %0 {max = 2} : str[N, 4, P], i64[N, 4]
    %10 = text_clean %r, %0, %0 {letters = upper, insensitive} : str[Q]
    %11 = text_clean %r, %0, %0 : str[K]
    %12 = text_parse %x {to = i64} : i64[N, 4]
    %13 = text_order %x : i64[N, 4]
    ret %2, %4, %8, %10, %6, %7, %5, %1
  }
}
# ---- window ----
# Convolutions and pools.
# run: infer
module @window {
  graph @main(%x: f32[N, 4, H, 32], %w: f32[8, 2, 3, 3], %b: f32[8], %t: f32[4, 3, 3, 3]) -> (f32[N, 8, A0, B0], f32[N, 3, A1, B1], f32[N, 4, A2, B2], f32[N, 4, A3, B3], i64[N, 4, A3, B3], f32[N, 4, 1, 7], i64[N, 4, 1, 7]) {
    %0 = conv %x, %w, %b {strides = [2, 1], before = [1, 1], after = [1, 1], group = 2} : f32[N, 8, A0, B0]
    %1 = conv %x, %t {strides = [2, 2], after = [1, 0], transposed} : f32[N, 3, A1, B1]
    %2 = pool %x {kernel = [3, 3], strides = [2, 2], ceil_mode} : f32[N, 4, A2, B2]
    %3 = pool %x {op = average, kernel = [2, 2], count_pad} : f32[N, 4, A3, B3]
    %4 = pool_indices %x {kernel = [2, 2], whole} : i64[N, 4, A3, B3]
    %5 = adaptive_pool %x {sizes = [1, 7]} : f32[N, 4, 1, 7]
    %6 = adaptive_pool_indices %x {sizes = [1, 7]} : i64[N, 4, 1, 7]
    ret %0, %1, %2, %3, %4, %5, %6
  }
}
# expect:
module @window {
  graph @main(%x: f32[N, 4, H, 32], %w: f32[8, 2, 3, 3], %b: f32[8], %t: f32[4, 3, 3, 3]) -> (f32[N, 8, ceil(H / 2), 32], f32[N, 3, 2*H, 65], f32[N, 4, min(floor(H / 2), ceil(H / 2)), 16], f32[N, 4, H - 1, 31], i64[N, 4, H - 1, 31], f32[N, 4, 1, 7], i64[N, 4, 1, 7]) {
    %0 = conv %x, %w, %b {strides = [2, 1], before = [1, 1], after = [1, 1], group = 2} : f32[N, 8, ceil(H / 2), 32]
    %1 = conv %x, %t {strides = [2, 2], after = [1, 0], transposed} : f32[N, 3, 2*H, 65]
    %2 = pool %x {kernel = [3, 3], strides = [2, 2], ceil_mode} : f32[N, 4, min(floor(H / 2), ceil(H / 2)), 16]
    %3 = pool %x {op = average, kernel = [2, 2], count_pad} : f32[N, 4, H - 1, 31]
    %4 = pool_indices %x {kernel = [2, 2], whole} : i64[N, 4, H - 1, 31]
    %5 = adaptive_pool %x {sizes = [1, 7]} : f32[N, 4, 1, 7]
    %6 = adaptive_pool_indices %x {sizes = [1, 7]} : i64[N, 4, 1, 7]
    ret %0, %1, %2, %3, %4, %5, %6
  }
}
