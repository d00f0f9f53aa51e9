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
