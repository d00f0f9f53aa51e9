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
