# ---- attention_of_products ----
# recognise_attention: scores scaled by a factor, a divisor or not at all; k as it is or
# transposed; q and k scaled themselves.
# run: recognise_attention,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: v plain
module @m {
  graph @divided(%q: f32[B, 2, S, 4], %k: f32[B, 2, T, 4], %v: f32[B, 2, T, 5]) -> (f32[B, 2, S, 5]) {
    %scale = const {value = 2.0} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = div %0, %scale
    %2 = softmax %1 {axis = -1}
    %3 = matmul %2, %v
    ret %3
  }
  graph @multiplied(%q: f32[S, 4], %k: f32[4, T], %v: f32[T, 5]) -> (f32[S, 5]) {
    %scale = const {value = [0.3]} : f32[1]
    %0 = matmul %q, %k
    %1 = mul %scale, %0
    %2 = softmax %1 {axis = 1}
    %3 = matmul %2, %v
    ret %3
  }
  graph @scaled_operands(%q: f64[B, S, 4], %k: f64[B, T, 4], %v: f64[B, T, 5]) -> (f64[B, S, 5]) {
    %scale = const {value = 0.75} : f64[]
    %0 = mul %q, %scale
    %1 = mul %k, %scale
    %2 = matmul %0, %1 {transpose_b}
    %3 = softmax %2 {axis = 2}
    %4 = matmul %3, %v
    ret %4
  }
}
# expect:
module @m {
  graph @divided(%q: f32[B, 2, S, 4], %k: f32[B, 2, T, 4], %v: f32[B, 2, T, 5]) -> (f32[B, 2, S, 5]) {
    %0 = attention %q, %k, %v {scale = 0.5, empty_nan} : f32[B, 2, S, 5]
    ret %0
  }
  graph @multiplied(%q: f32[S, 4], %k: f32[4, T], %v: f32[T, 5]) -> (f32[S, 5]) {
    %0 = transpose %k {perm = [1, 0]} : f32[T, 4]
    %1 = attention %q, %0, %v {scale = 0.30000001192092896, empty_nan} : f32[S, 5]
    ret %1
  }
  graph @scaled_operands(%q: f64[B, S, 4], %k: f64[B, T, 4], %v: f64[B, T, 5]) -> (f64[B, S, 5]) {
    %0 = const {value = 0.75} : f64[]
    %1 = mul %q, %0 : f64[B, S, 4]
    %2 = mul %k, %0 : f64[B, T, 4]
    %3 = attention %1, %2, %v {scale = 1, empty_nan} : f64[B, S, 5]
    ret %3
  }
}
# ---- masks ----
# recognise_attention: masks that are added, and bool ones that choose between scores and
# -inf, in both senses.
# run: recognise_attention,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: v plain
module @m {
  graph @added(%q: f32[B, 2, S, 4], %k: f32[B, 2, T, 4], %v: f32[B, 2, T, 5], %mask: f32[B, 1, 1, T]) -> (f32[B, 2, S, 5]) {
    %scale = const {value = 2.0} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = div %0, %scale
    %2 = add %mask, %1
    %3 = softmax %2 {axis = 3}
    %4 = matmul %3, %v
    ret %4
  }
  graph @kept(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %none = const {value = -inf} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = where %mask, %0, %none
    %2 = softmax %1 {axis = 2}
    %3 = matmul %2, %v
    ret %3
  }
  graph @filled(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %none = const {value = -inf} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = where %mask, %none, %0
    %2 = softmax %1 {axis = 2}
    %3 = matmul %2, %v
    ret %3
  }
}
# expect:
module @m {
  graph @added(%q: f32[B, 2, S, 4], %k: f32[B, 2, T, 4], %v: f32[B, 2, T, 5], %mask: f32[B, 1, 1, T]) -> (f32[B, 2, S, 5]) {
    %0 = attention %q, %k, %v, %mask {scale = 0.5, empty_nan} : f32[B, 2, S, 5]
    ret %0
  }
  graph @kept(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %0 = attention %q, %k, %v, %mask {scale = 1, empty_nan} : f32[B, S, 5]
    ret %0
  }
  graph @filled(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %0 = not %mask : bool[S, T]
    %1 = attention %q, %k, %v, %0 {scale = 1, empty_nan} : f32[B, S, 5]
    ret %1
  }
}
# ---- near_misses ----
# recognise_attention: another axis, weights that are used, a finite mask beside another,
# a mask whose sign changes or that is capped, dims not known equal, f16: all stay.
# run: recognise_attention,dce
module @m {
  graph @another_axis(%q: f32[4, 4], %k: f32[4, 4], %v: f32[4, 5]) -> (f32[4, 5]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = softmax %0 {axis = 0}
    %2 = matmul %1, %v
    ret %2
  }
  graph @logarithm(%q: f32[4, 4], %k: f32[4, 4], %v: f32[4, 5]) -> (f32[4, 5]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = softmax %0 {axis = 1, log}
    %2 = matmul %1, %v
    ret %2
  }
  graph @weights_are_used(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5]) -> (f32[S, 5], f32[S, T]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = softmax %0 {axis = 1}
    %2 = matmul %1, %v
    ret %2, %1
  }
  graph @scores_are_used(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5], f32[S, T]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = add %0, %mask
    %2 = softmax %1 {axis = 1}
    %3 = matmul %2, %v
    ret %3, %0
  }
  graph @taller_mask(%q: f32[1, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = add %0, %mask
    %2 = softmax %1 {axis = 1}
    %3 = matmul %2, %v
    ret %3
  }
  graph @narrow(%q: f16[S, 4], %k: f16[T, 4], %v: f16[T, 5]) -> (f16[S, 5]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = softmax %0 {axis = 1}
    %2 = matmul %1, %v
    ret %2
  }
  graph @two_finite_masks(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T], %bias: f32[B, 1, T]) -> (f32[B, S, 5]) {
    %none = const {value = -10000.0} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = where %mask, %0, %none
    %2 = add %1, %bias
    %3 = softmax %2 {axis = 2}
    %4 = matmul %3, %v
    ret %4
  }
  graph @negative_scale_of_a_mask(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %scale = const {value = -0.5} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = add %0, %mask
    %2 = mul %1, %scale
    %3 = softmax %2 {axis = 1}
    %4 = matmul %3, %v
    ret %4
  }
  graph @mask_within_a_cap(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = matmul %q, %k {transpose_b}
    %1 = add %0, %mask
    %2 = tanh %1
    %3 = softmax %2 {axis = 1}
    %4 = matmul %3, %v
    ret %4
  }
}
# expect:
module @m {
  graph @another_axis(%q: f32[4, 4], %k: f32[4, 4], %v: f32[4, 5]) -> (f32[4, 5]) {
    %0 = matmul %q, %k {transpose_b} : f32[4, 4]
    %1 = softmax %0 {axis = 0} : f32[4, 4]
    %2 = matmul %1, %v : f32[4, 5]
    ret %2
  }
  graph @logarithm(%q: f32[4, 4], %k: f32[4, 4], %v: f32[4, 5]) -> (f32[4, 5]) {
    %0 = matmul %q, %k {transpose_b} : f32[4, 4]
    %1 = softmax %0 {axis = 1, log} : f32[4, 4]
    %2 = matmul %1, %v : f32[4, 5]
    ret %2
  }
  graph @weights_are_used(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5]) -> (f32[S, 5], f32[S, T]) {
    %0 = matmul %q, %k {transpose_b} : f32[S, T]
    %1 = softmax %0 {axis = 1} : f32[S, T]
    %2 = matmul %1, %v : f32[S, 5]
    ret %2, %1
  }
  graph @scores_are_used(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5], f32[S, T]) {
    %0 = matmul %q, %k {transpose_b} : f32[S, T]
    %1 = add %0, %mask : f32[S, T]
    %2 = softmax %1 {axis = 1} : f32[S, T]
    %3 = matmul %2, %v : f32[S, 5]
    ret %3, %0
  }
  graph @taller_mask(%q: f32[1, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = matmul %q, %k {transpose_b} : f32[1, T]
    %1 = add %0, %mask : f32[S, T]
    %2 = softmax %1 {axis = 1} : f32[S, T]
    %3 = matmul %2, %v : f32[S, 5]
    ret %3
  }
  graph @narrow(%q: f16[S, 4], %k: f16[T, 4], %v: f16[T, 5]) -> (f16[S, 5]) {
    %0 = matmul %q, %k {transpose_b} : f16[S, T]
    %1 = softmax %0 {axis = 1} : f16[S, T]
    %2 = matmul %1, %v : f16[S, 5]
    ret %2
  }
  graph @two_finite_masks(
      %q: f32[B, S, 4],
      %k: f32[B, T, 4],
      %v: f32[B, T, 5],
      %mask: bool[S, T],
      %bias: f32[B, 1, T]) -> (f32[B, S, 5]) {
    %0 = const {value = -10000} : f32[]
    %1 = matmul %q, %k {transpose_b} : f32[B, S, T]
    %2 = where %mask, %1, %0 : f32[B, S, T]
    %3 = add %2, %bias : f32[B, S, T]
    %4 = softmax %3 {axis = 2} : f32[B, S, T]
    %5 = matmul %4, %v : f32[B, S, 5]
    ret %5
  }
  graph @negative_scale_of_a_mask(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = const {value = -0.5} : f32[]
    %1 = matmul %q, %k {transpose_b} : f32[S, T]
    %2 = add %1, %mask : f32[S, T]
    %3 = mul %2, %0 : f32[S, T]
    %4 = softmax %3 {axis = 1} : f32[S, T]
    %5 = matmul %4, %v : f32[S, 5]
    ret %5
  }
  graph @mask_within_a_cap(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = matmul %q, %k {transpose_b} : f32[S, T]
    %1 = add %0, %mask : f32[S, T]
    %2 = tanh %1 : f32[S, T]
    %3 = softmax %2 {axis = 1} : f32[S, T]
    %4 = matmul %3, %v : f32[S, 5]
    ret %4
  }
}
# ---- places ----
# recognise_attention: masks before the scale, large negative numbers instead of -inf, two
# masks, soft caps.
# run: recognise_attention,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: q plain
# values: k plain
# values: v plain
# values: bias plain
module @m {
  graph @mask_before_scale(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %scale = const {value = 0.5} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = add %0, %mask
    %2 = mul %1, %scale
    %3 = softmax %2 {axis = 1}
    %4 = matmul %3, %v
    ret %4
  }
  graph @large_negative(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %none = const {value = -10000.0} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = where %mask, %0, %none
    %2 = softmax %1 {axis = 2}
    %3 = matmul %2, %v
    ret %3
  }
  graph @choice_before_scale(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: bool[S, T]) -> (f32[S, 5]) {
    %scale = const {value = 2.0} : f32[]
    %none = const {value = -3.4028234663852886e+38} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = div %0, %scale
    %2 = where %mask, %none, %1
    %3 = mul %2, %scale
    %4 = softmax %3 {axis = 1}
    %5 = matmul %4, %v
    ret %5
  }
  graph @two_masks(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T], %bias: f32[B, 1, T]) -> (f32[B, S, 5]) {
    %none = const {value = -inf} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = where %mask, %0, %none
    %2 = add %bias, %1
    %3 = softmax %2 {axis = 2}
    %4 = matmul %3, %v
    ret %4
  }
  graph @capped(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: f32[S, T]) -> (f32[B, S, 5]) {
    %scale = const {value = 0.5} : f32[]
    %cap = const {value = 4.0} : f32[]
    %0 = matmul %q, %k {transpose_b}
    %1 = mul %0, %scale
    %2 = div %1, %cap
    %3 = tanh %2
    %4 = mul %3, %cap
    %5 = add %4, %mask
    %6 = softmax %5 {axis = 2}
    %7 = matmul %6, %v
    ret %7
  }
}
# expect:
module @m {
  graph @mask_before_scale(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: f32[S, T]) -> (f32[S, 5]) {
    %0 = const {value = 0.5} : f32[]
    %1 = mul %mask, %0 : f32[S, T]
    %2 = attention %q, %k, %v, %1 {scale = 0.5, empty_nan} : f32[S, 5]
    ret %2
  }
  graph @large_negative(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: bool[S, T]) -> (f32[B, S, 5]) {
    %0 = attention %q, %k, %v, %mask {scale = 1, masked = -10000, empty_nan} : f32[B, S, 5]
    ret %0
  }
  graph @choice_before_scale(%q: f32[S, 4], %k: f32[T, 4], %v: f32[T, 5], %mask: bool[S, T]) -> (f32[S, 5]) {
    %0 = not %mask : bool[S, T]
    %1 = attention %q, %k, %v, %0 {scale = 1, empty_nan} : f32[S, 5]
    ret %1
  }
  graph @two_masks(
      %q: f32[B, S, 4],
      %k: f32[B, T, 4],
      %v: f32[B, T, 5],
      %mask: bool[S, T],
      %bias: f32[B, 1, T]) -> (f32[B, S, 5]) {
    %0 = const {value = -inf} : f32[]
    %1 = where %mask, %bias, %0 : f32[B, S, T]
    %2 = attention %q, %k, %v, %1 {scale = 1, empty_nan} : f32[B, S, 5]
    ret %2
  }
  graph @capped(%q: f32[B, S, 4], %k: f32[B, T, 4], %v: f32[B, T, 5], %mask: f32[S, T]) -> (f32[B, S, 5]) {
    %0 = attention %q, %k, %v, %mask {scale = 0.5, softcap = 4, empty_nan} : f32[B, S, 5]
    ret %0
  }
}
