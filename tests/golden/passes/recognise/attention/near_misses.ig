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
