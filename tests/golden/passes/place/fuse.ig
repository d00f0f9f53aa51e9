# ---- fuse ----
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
# ---- fuse_reductions ----
# fuse: reductions of one tensor over the same axes are a region; of others, of integers, not.
# run: fuse
module @m {
  graph @main(%x: f32[B, 5], %y: f32[B, 5]) -> (f32[B], f32[B], f32[B], f32[5], i64[B], i64[B]) {
    %0 = reduce %x {op = min, axes = [1]} : f32[B]
    %1 = neg %0 : f32[B]
    %2 = reduce %y {op = max, axes = [1]} : f32[B]
    %3 = reduce %x {op = max, axes = [1]} : f32[B]
    %4 = reduce %x {op = max, axes = [0]} : f32[5]
    %5 = cast %x {to = i64} : i64[B, 5]
    %6 = reduce %5 {op = min, axes = [1]} : i64[B]
    %7 = reduce %5 {op = max, axes = [1]} : i64[B]
    ret %1, %2, %3, %4, %6, %7
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 5], %y: f32[B, 5]) -> (f32[B], f32[B], f32[B], f32[5], i64[B], i64[B]) {
    %0, %1 = fused %x {family = "reduce"} : f32[B], f32[B] (%2: f32[B, 5]) {
      %3 = reduce %2 {op = min, axes = [1]} : f32[B]
      %4 = reduce %2 {op = max, axes = [1]} : f32[B]
      yield %3, %4
    }
    %5 = fused %0 {family = "map"} : f32[B] (%6: f32[B]) {
      %7 = neg %6 : f32[B]
      yield %7
    }
    %8 = fused %y {family = "reduce"} : f32[B] (%9: f32[B, 5]) {
      %10 = reduce %9 {op = max, axes = [1]} : f32[B]
      yield %10
    }
    %11 = fused %x {family = "reduce"} : f32[5] (%12: f32[B, 5]) {
      %13 = reduce %12 {op = max, axes = [0]} : f32[5]
      yield %13
    }
    %14 = fused %x {family = "map"} : i64[B, 5] (%15: f32[B, 5]) {
      %16 = cast %15 {to = i64} : i64[B, 5]
      yield %16
    }
    %17 = fused %14 {family = "reduce"} : i64[B] (%18: i64[B, 5]) {
      %19 = reduce %18 {op = min, axes = [1]} : i64[B]
      yield %19
    }
    %20 = fused %14 {family = "reduce"} : i64[B] (%21: i64[B, 5]) {
      %22 = reduce %21 {op = max, axes = [1]} : i64[B]
      yield %22
    }
    ret %5, %8, %1, %11, %17, %20
  }
}
# ---- fuse_norm ----
# fuse: what follows a norm joins it; what follows a softmax is a region of its own.
# run: fuse
module @m {
  graph @main(%x: f32[B, 5], %y: f32[B, 5]) -> (f32[B, 5], f32[B, 5]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05} : f32[B, 5]
    %1 = add %0, %y : f32[B, 5]
    %2 = softmax %x {axis = 1} : f32[B, 5]
    %3 = add %2, %y : f32[B, 5]
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 5], %y: f32[B, 5]) -> (f32[B, 5], f32[B, 5]) {
    %0 = fused %x, %y {family = "softmax"} : f32[B, 5] (%1: f32[B, 5], %2: f32[B, 5]) {
      %3 = layer_norm %1 {axis = 1, epsilon = 1e-05} : f32[B, 5]
      %4 = add %3, %2 : f32[B, 5]
      yield %4
    }
    %5 = fused %x {family = "softmax"} : f32[B, 5] (%6: f32[B, 5]) {
      %7 = softmax %6 {axis = 1} : f32[B, 5]
      yield %7
    }
    %8 = fused %5, %y {family = "map"} : f32[B, 5] (%9: f32[B, 5], %10: f32[B, 5]) {
      %11 = add %9, %10 : f32[B, 5]
      yield %11
    }
    ret %0, %8
  }
}
# ---- fuse_bag ----
# fuse: a bag keeps its operands' places, the same table twice too.
# run: fuse
module @m {
  weight @t : f32[10, 4] = splat(1)
  graph @main(%a: i64[N], %ao: i64[B], %b: i64[M], %bo: i64[B]) -> (f32[B, 4], f32[B, 4]) {
    %0, %1 = bag @t, %a, %ao, @t, %b, %bo {operands = [1, 1], pool = [sum, sum]} : f32[B, 4], f32[B, 4]
    ret %0, %1
  }
}
# expect:
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
# ---- fuse_broadcasts ----
# fuse: extents that may differ keep ops apart: one of them may be 1, which the other repeats.
# run: fuse
module @m {
  graph @main(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = exp %x : f32[A]
    %1 = add %0, %y : f32[bcast(A, B)]
    %2 = neg %1 : f32[bcast(A, B)]
    ret %2
  }
  graph @products(%x: f32[A, 3], %w: f32[3, 4], %y: f32[B, 4]) -> (f32[bcast(A, B), 4]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = matmul %x, %w : f32[A, 4]
    %1 = add %0, %y : f32[bcast(A, B), 4]
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = fused %x {family = "map"} : f32[A] (%1: f32[A]) {
      %2 = exp %1 : f32[A]
      yield %2
    }
    %3 = fused %0, %y {family = "map"} : f32[bcast(A, B)] (%4: f32[A], %5: f32[B]) {
      %6 = add %4, %5 : f32[bcast(A, B)]
      %7 = neg %6 : f32[bcast(A, B)]
      yield %7
    }
    ret %3
  }
  graph @products(%x: f32[A, 3], %w: f32[3, 4], %y: f32[B, 4]) -> (f32[bcast(A, B), 4]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = fused %x, %w {family = "dot"} : f32[A, 4] (%1: f32[A, 3], %2: f32[3, 4]) {
      %3 = matmul %1, %2 : f32[A, 4]
      yield %3
    }
    %4 = fused %0, %y {family = "map"} : f32[bcast(A, B), 4] (%5: f32[A, 4], %6: f32[B, 4]) {
      %7 = add %5, %6 : f32[bcast(A, B), 4]
      yield %7
    }
    ret %4
  }
}
# ---- fuse_together ----
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
# ---- fuse_users ----
# fuse: a region that one other alone uses joins it, in however many places; one of another shape, or that two use, does not.
# run: fuse
module @m {
  graph @main(%0: f32[B], %1: f32[B], %s: f32[]) -> (f32[B], f32[B], f32[B]) {
    %2 = abs %0
    %3 = neg %1
    %4 = add %2, %3
    %5 = mul %4, %2
    %6 = sub %5, %3
    %7 = abs %s
    %8 = mul %6, %7
    %9 = exp %0
    %10 = add %9, %1
    %11 = mul %9, %1
    %12 = neg %10
    ret %8, %12, %11
  }
}
# expect:
module @m {
  graph @main(%0: f32[B], %1: f32[B], %s: f32[]) -> (f32[B], f32[B], f32[B]) {
    %2 = fused %s {family = "map"} : f32[] (%3: f32[]) {
      %4 = abs %3 : f32[]
      yield %4
    }
    %5 = fused %1, %0, %2 {family = "map"} : f32[B] (%6: f32[B], %7: f32[B], %8: f32[]) {
      %9 = neg %6 : f32[B]
      %10 = abs %7 : f32[B]
      %11 = add %10, %9 : f32[B]
      %12 = mul %11, %10 : f32[B]
      %13 = sub %12, %9 : f32[B]
      %14 = mul %13, %8 : f32[B]
      yield %14
    }
    %15 = fused %0 {family = "map"} : f32[B] (%16: f32[B]) {
      %17 = exp %16 : f32[B]
      yield %17
    }
    %18 = fused %15, %1 {family = "map"} : f32[B] (%19: f32[B], %20: f32[B]) {
      %21 = mul %19, %20 : f32[B]
      yield %21
    }
    %22 = fused %15, %1 {family = "map"} : f32[B] (%23: f32[B], %24: f32[B]) {
      %25 = add %23, %24 : f32[B]
      %26 = neg %25 : f32[B]
      yield %26
    }
    ret %5, %22, %18
  }
}
# ---- attention ----
# fuse: on CPUs a product of weights joins what makes them of a product; not on GPUs, nor few rows.
# run: fuse
# target: cpu:v3
module @m {
  graph @main(%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %m: f32[L, S], %few: f32[B, 4, S]) -> (f32[B, L, 16], f32[B, L, 16], f32[B, 4, 16]) {
    %c = const {value = 0.5} : f32[]
    %0 = matmul %q, %k {transpose_b} : f32[B, L, S]
    %1 = mul %0, %c : f32[B, L, S]
    %2 = add %1, %m : f32[B, L, S]
    %3 = softmax %2 {axis = 2} : f32[B, L, S]
    %4 = matmul %3, %v : f32[B, L, 16]
    %5 = relu %4 : f32[B, L, 16]
    %6 = matmul %q, %k {transpose_b} : f32[B, L, S]
    %7 = sigmoid %6 : f32[B, L, S]
    %8 = mul %7, %m : f32[B, L, S]
    %9 = matmul %8, %v : f32[B, L, 16]
    %10 = softmax %few {axis = 2} : f32[B, 4, S]
    %11 = matmul %10, %v : f32[B, 4, 16]
    ret %5, %9, %11
  }
}
# expect:
module @m {
  graph @main(
      %q: f32[B, L, 8],
      %k: f32[B, S, 8],
      %v: f32[B, S, 16],
      %m: f32[L, S],
      %few: f32[B, 4, S]) -> (f32[B, L, 16], f32[B, L, 16], f32[B, 4, 16]) {
    %0 = const {value = 0.5} : f32[]
    %1 = fused %q, %k, %m, %v {family = "attention"} : f32[B, L, 16] (%2: f32[B, L, 8], %3: f32[B, S, 8], %4: f32[L, S], %5: f32[B, S, 16]) {
      %6 = matmul %2, %3 {transpose_b} : f32[B, L, S]
      %7 = const {value = 0.5} : f32[]
      %8 = mul %6, %7 : f32[B, L, S]
      %9 = add %8, %4 : f32[B, L, S]
      %10 = softmax %9 {axis = 2} : f32[B, L, S]
      %11 = matmul %10, %5 : f32[B, L, 16]
      %12 = relu %11 : f32[B, L, 16]
      yield %12
    }
    %13 = fused %q, %k, %m, %v {family = "attention"} : f32[B, L, 16] (%14: f32[B, L, 8], %15: f32[B, S, 8], %16: f32[L, S], %17: f32[B, S, 16]) {
      %18 = matmul %14, %15 {transpose_b} : f32[B, L, S]
      %19 = sigmoid %18 : f32[B, L, S]
      %20 = mul %19, %16 : f32[B, L, S]
      %21 = matmul %20, %17 : f32[B, L, 16]
      yield %21
    }
    %22 = fused %few {family = "softmax"} : f32[B, 4, S] (%23: f32[B, 4, S]) {
      %24 = softmax %23 {axis = 2} : f32[B, 4, S]
      yield %24
    }
    %25 = fused %22, %v {family = "dot"} : f32[B, 4, 16] (%26: f32[B, 4, S], %27: f32[B, S, 16]) {
      %28 = matmul %26, %27 : f32[B, 4, 16]
      yield %28
    }
    ret %1, %13, %25
  }
}
# ---- attention_jagged ----
# fuse: conversions of jagged rows by the same offsets are part of attention.
# run: fuse
# target: cpu:v3
module @m {
  graph @main(%x: f32[T, 16], %o: i64[E], %m: f32[N]) -> (f32[T, 16]) {
    %0 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]
    %1 = reshape %0 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
    %2 = transpose %1 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 8]
    %3 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]
    %4 = reshape %3 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
    %5 = transpose %4 {perm = [0, 2, 3, 1]} : f32[E - 1, 2, 8, N]
    %6 = matmul %2, %5 : f32[E - 1, 2, N, N]
    %7 = sigmoid %6 : f32[E - 1, 2, N, N]
    %8 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]
    %9 = reshape %8 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
    %10 = transpose %9 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 8]
    %11 = matmul %7, %10 : f32[E - 1, 2, N, 8]
    %12 = transpose %11 {perm = [0, 2, 1, 3]} : f32[E - 1, N, 2, 8]
    %13 = reshape %12 {to = [E - 1, N, 16]} : f32[E - 1, N, 16]
    %14 = padded_to_jagged %13, %o {rows = T} : f32[T, 16]
    %15 = tanh %14 : f32[T, 16]
    ret %15
  }
}
# expect:
module @m {
  graph @main(%x: f32[T, 16], %o: i64[E], %m: f32[N]) -> (f32[T, 16]) {
    %0 = fused %x, %o {family = "attention"} : f32[T, 16] (%1: f32[T, 16], %2: i64[E]) {
      %3 = jagged_to_padded %1, %2 {length = N} : f32[E - 1, N, 16]
      %4 = reshape %3 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
      %5 = transpose %4 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 8]
      %6 = jagged_to_padded %1, %2 {length = N} : f32[E - 1, N, 16]
      %7 = reshape %6 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
      %8 = transpose %7 {perm = [0, 2, 3, 1]} : f32[E - 1, 2, 8, N]
      %9 = jagged_to_padded %1, %2 {length = N} : f32[E - 1, N, 16]
      %10 = reshape %9 {to = [E - 1, N, 2, 8]} : f32[E - 1, N, 2, 8]
      %11 = transpose %10 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 8]
      %12 = matmul %5, %8 : f32[E - 1, 2, N, N]
      %13 = sigmoid %12 : f32[E - 1, 2, N, N]
      %14 = matmul %13, %11 : f32[E - 1, 2, N, 8]
      %15 = transpose %14 {perm = [0, 2, 1, 3]} : f32[E - 1, N, 2, 8]
      %16 = reshape %15 {to = [E - 1, N, 16]} : f32[E - 1, N, 16]
      %17 = padded_to_jagged %16, %2 {rows = T} : f32[T, 16]
      yield %17
    }
    %18 = fused %0 {family = "map"} : f32[T, 16] (%19: f32[T, 16]) {
      %20 = tanh %19 : f32[T, 16]
      yield %20
    }
    ret %18
  }
}
