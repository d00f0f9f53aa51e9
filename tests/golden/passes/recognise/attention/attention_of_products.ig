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
