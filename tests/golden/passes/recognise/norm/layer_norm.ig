# recognise_norm: mean and variance over the last axes, in the spellings of exporters.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @by_root(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [-1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [-1], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    %7 = mul %6, %scale
    %8 = add %7, %bias
    ret %8
  }
  graph @by_reciprocal(%x: f32[B, 3, 8], %scale: f32[1, 1, 8], %bias: f32[1]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = [1e-05]} : f32[1]
    %two = const {value = 2.0} : f32[]
    %0 = reduce %x {op = mean, axes = [2], keep}
    %1 = sub %x, %0
    %2 = pow %1, %two
    %3 = reduce %2 {op = mean, axes = [2], keep}
    %4 = add %epsilon, %3
    %5 = rsqrt %4
    %6 = mul %5, %1
    %7 = mul %scale, %6
    %8 = add %bias, %7
    ret %8
  }
  graph @two_axes(%x: f64[B, 3, 8], %scale: f64[3, 8]) -> (f64[B, 3, 8]) {
    %epsilon = const {value = 0.001} : f64[]
    %one = const {value = 1.0} : f64[]
    %0 = reduce %x {op = mean, axes = [2, 1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [1, 2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %one, %5
    %7 = mul %1, %6
    %8 = mul %7, %scale
    ret %8
  }
}
# expect:
module @m {
  graph @by_root(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale, %bias {axis = 2, epsilon = 9.999999747378752e-06} : f32[B, 3, 8]
    ret %0
  }
  graph @by_reciprocal(%x: f32[B, 3, 8], %scale: f32[1, 1, 8], %bias: f32[1]) -> (f32[B, 3, 8]) {
    %0 = reshape %scale {to = [8]} : f32[8]
    %1 = layer_norm %x, %0, %bias {axis = 2, epsilon = 9.999999747378752e-06} : f32[B, 3, 8]
    ret %1
  }
  graph @two_axes(%x: f64[B, 3, 8], %scale: f64[3, 8]) -> (f64[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 1, epsilon = 0.001} : f64[B, 3, 8]
    ret %0
  }
}
