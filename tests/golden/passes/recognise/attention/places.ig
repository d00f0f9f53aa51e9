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
