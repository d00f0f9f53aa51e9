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
    %1 = transpose %x {perm = [0, 2, 3, 1]} : u8[N, H, 8, 8]
    %2 = pad %1, %z {before = [0, 0, 1, 0], after = [0, 1, 1, 0]} : u8[N, H + 1, 10, 8]
    %3 = slice %2 {starts = [0, 0, 0, 0], sizes = [N, H, 4, 8], steps = [1, 1, 2, 1]} : u8[N, H, 4, 8]
    %4 = slice %2 {starts = [0, 0, 2, 0], sizes = [N, H, 4, 8], steps = [1, 1, 2, 1]} : u8[N, H, 4, 8]
    %5 = slice %2 {starts = [0, 1, 0, 0], sizes = [N, H, 4, 8], steps = [1, 1, 2, 1]} : u8[N, H, 4, 8]
    %6 = slice %2 {starts = [0, 1, 2, 0], sizes = [N, H, 4, 8], steps = [1, 1, 2, 1]} : u8[N, H, 4, 8]
    %7 = concat %3, %4, %5, %6 {axis = 3} : u8[N, H, 4, 32]
    %8 = reshape %0 {to = [4]} : i8[4]
    %9 = transpose @w {perm = [0, 2, 3, 1]} : i8[4, 2, 2, 8]
    %10 = reshape %9 {to = [4, 32]} : i8[4, 32]
    %11 = transpose %10 {perm = [1, 0]} : i8[32, 4]
    %12 = matmul_integer %7, %11, %z, %8 : i32[N, H, 4, 4]
    %13 = transpose %12 {perm = [0, 3, 1, 2]} : i32[N, 4, H, 4]
    %14 = const {value = 128} : u8[]
    %15 = const {value = 1} : f32[]
    %16 = dequantize %y, %15, %s : f32[N, 3, 9]
    %17 = const {value = 1} : f32[]
    %18 = dequantize @d, %17, %14 : f32[3, 1, 3]
    %19 = conv %16, %18 {strides = [2], group = 3} : f32[N, 3, 4]
    %20 = cast %19 {to = i32} : i32[N, 3, 4]
    %21 = const {value = 1} : f32[]
    %22 = dequantize %v, %21 : f32[N, 4, 5, 5]
    %23 = const {value = 1} : f32[]
    %24 = dequantize @g, %23 : f32[4, 2, 1, 1]
    %25 = conv %22, %24 {group = 2} : f32[N, 4, 5, 5]
    %26 = cast %25 {to = i32} : i32[N, 4, 5, 5]
    ret %13, %20, %26
  }
}
