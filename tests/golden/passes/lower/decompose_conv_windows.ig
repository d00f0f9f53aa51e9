# decompose: a convolution of bytes with constant weights is a product with channels last;
# those of few channels, and of groups, are convolutions of floats.
# run: decompose,dce
# target: cpu:v3
module @m {
  weight @w : i8[4, 8, 2, 2] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @g : i8[4, 2, 1, 1] = splat(-7)
  graph @main(%x: u8[N, 8, H, 8], %y: i8[N, 3, 9], %v: u8[N, 4, 5, 5], %z: u8[], %s: i8[1]) -> (i32[N, 4, H, 4], i32[N, 3, 4], i32[N, 4, 5, 5]) {
    %0 = const {value = [1, 0, -1, 2]} : i8[4, 1, 1, 1]
    %1 = conv_integer %x, @w, %z, %0 {strides = [1, 2], dilations = [1, 2], before = [0, 1], after = [1, 1]} : i32[N, 4, H, 4]
    %2 = const {value = 128} : u8[]
    %3 = conv_integer %y, @d, %s, %2 {strides = [2], group = 3} : i32[N, 3, 4]
    %4 = conv_integer %v, @g {group = 2} : i32[N, 4, 5, 5]
    ret %1, %3, %4
  }
}
# expect:
module @m {
  weight @w : i8[4, 8, 2, 2] = splat(3)
  weight @d : u8[3, 1, 3] = splat(250)
  weight @g : i8[4, 2, 1, 1] = splat(-7)
  graph @main(
      %x: u8[N, 8, H, 8],
      %y: i8[N, 3, 9],
      %v: u8[N, 4, 5, 5],
      %z: u8[],
      %s: i8[1]) -> (i32[N, 4, H, 4], i32[N, 3, 4], i32[N, 4, 5, 5]) {
    %0 = const {value = [1, 0, -1, 2]} : i8[4, 1, 1, 1]
    %1 = pad %x, %z {before = [0, 0, 0, 1], after = [0, 0, 1, 1]} : u8[N, 8, H + 1, 10]
    %2 = transpose %1 {perm = [0, 2, 3, 1]} : u8[N, H + 1, 10, 8]
    %3 = windows %2 {kernel = [2, 2], strides = [1, 2], dilations = [1, 2]} : u8[N, H, 4, 32]
    %4 = reshape %0 {to = [4]} : i8[4]
    %5 = transpose @w {perm = [0, 2, 3, 1]} : i8[4, 2, 2, 8]
    %6 = reshape %5 {to = [4, 32]} : i8[4, 32]
    %7 = transpose %6 {perm = [1, 0]} : i8[32, 4]
    %8 = matmul_integer %3, %7, %z, %4 : i32[N, H, 4, 4]
    %9 = transpose %8 {perm = [0, 3, 1, 2]} : i32[N, 4, H, 4]
    %10 = const {value = 128} : u8[]
    %11 = const {value = 1} : f32[]
    %12 = dequantize %y, %11, %s : f32[N, 3, 9]
    %13 = const {value = 1} : f32[]
    %14 = dequantize @d, %13, %10 : f32[3, 1, 3]
    %15 = conv %12, %14 {strides = [2], group = 3} : f32[N, 3, 4]
    %16 = cast %15 {to = i32} : i32[N, 3, 4]
    %17 = conv_integer %v, @g {group = 2} : i32[N, 4, 5, 5]
    ret %9, %16, %17
  }
}
