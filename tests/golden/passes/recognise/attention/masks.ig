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
