# Constants of every dtype and form: lists, one element, splats, bytes, bits.
# run:
module @constants {
  weight @w : f32[4] = [1, 2.5, -0, 0.1] {parameter}
  weight @special : f32[6] = [inf, -inf, nan, 0x7fc00001, 1e-45, 3.4028235e38]
  weight @half : f16[4] = [0.1, 65504, -inf, 0x7e01]
  weight @brain : bf16[3] = [0.1, 3.3895314e38, nan]
  weight @tiny : f8e4m3fn[3] = [448, -0.001953125, nan]
  weight @wide : f64[3] = [0.1, 4.9e-324, 1.7976931348623157e308]
  weight @bytes : i8[3] = inline(0x00ff80)
  weight @nibbles : i4[5] = [-8, 7, -1, 0, 3]
  weight @bits : u2[5] = [3, 2, 1, 0, 3]
  weight @edges : i64[2] = [-9223372036854775808, 9223372036854775807]
  weight @top : u64[1] = [18446744073709551615]
  weight @none : f32[0, 4] = []
  weight @all : f32[4096, 4096] = splat(0.5)
  weight @panels : f32[2, 3] = recipe(0)
  weight @"onnx::MatMul_12/a \"b\"" : f32[2] = [1, 2]
  table @plain : f32<rowwise>[2, 2] = [1, 2, 3, 4]
  table @rows : i8<rowwise f16>[1, 4] = inline(0x003c000001020304)
  table @pairs : i4<rowwise f32>[1, 3] = inline(0x0000803f000000002103)
  private graph @weights() -> (f32[2, 3]) {
    %0 = const {value = [1, 2, 3, 4, 5, 6]} : f32[2, 3]
    ret %0
  }
  graph @main(%n: i64[]) -> (f32[4], f32[6], f32[2], f32[4], bool[2], i64[3], i64[]) {
    %0 = const {value = [true, false]} : bool[2]
    %1 = const {value = f32[4] splat(1.5)} : f32[4]
    %2 = add %1, @w
    %3 = neg @special
    %4 = neg @"onnx::MatMul_12/a \"b\""
    %5 = add @w, @w
    %6 = dims {values = [N, 2*N + 1, -1]} : i64[3]
    %7 = dims {values = [ceil(N / 16)], scalar}
    ret %2, %3, %4, %5, %0, %6, %7
  }
}
# expect:
module @constants {
  weight @w : f32[4] = [1, 2.5, -0, 0.1] {parameter}
  weight @special : f32[6] = [inf, -inf, nan, 0x7fc00001, 1e-45, 3.4028235e+38]
  weight @half : f16[4] = [0.099975586, 65504, -inf, 0x7e01]
  weight @brain : bf16[3] = [0.100097656, 3.3895314e+38, nan]
  weight @tiny : f8e4m3fn[3] = [448, -0.001953125, nan]
  weight @wide : f64[3] = [0.1, 5e-324, 1.7976931348623157e+308]
  weight @bytes : i8[3] = [0, -1, -128]
  weight @nibbles : i4[5] = [-8, 7, -1, 0, 3]
  weight @bits : u2[5] = [3, 2, 1, 0, 3]
  weight @edges : i64[2] = [-9223372036854775808, 9223372036854775807]
  weight @top : u64[1] = [18446744073709551615]
  weight @none : f32[0, 4] = []
  weight @all : f32[4096, 4096] = splat(0.5)
  weight @panels : f32[2, 3] = recipe(0)
  weight @"onnx::MatMul_12/a \"b\"" : f32[2] = [1, 2]
  table @plain : f32<rowwise>[2, 2] = inline(0x0000803f000000400000404000008040)
  table @rows : i8<rowwise f16>[1, 4] = inline(0x003c000001020304)
  table @pairs : i4<rowwise f32>[1, 3] = inline(0x0000803f000000002103)
  private graph @weights() -> (f32[2, 3]) {
    %0 = const {value = [1, 2, 3, 4, 5, 6]} : f32[2, 3]
    ret %0
  }
  graph @main(%n: i64[]) -> (f32[4], f32[6], f32[2], f32[4], bool[2], i64[3], i64[]) {
    %0 = const {value = [true, false]} : bool[2]
    %1 = const {value = splat(1.5)} : f32[4]
    %2 = add %1, @w : f32[4]
    %3 = neg @special : f32[6]
    %4 = neg @"onnx::MatMul_12/a \"b\"" : f32[2]
    %5 = add @w, @w : f32[4]
    %6 = dims {values = [N, 2*N + 1, -1]} : i64[3]
    %7 = dims {values = [ceil(N / 16)], scalar} : i64[]
    ret %2, %3, %4, %5, %0, %6, %7
  }
}
