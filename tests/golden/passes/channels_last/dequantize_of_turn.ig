# dequantize_of_turn: numbers, and vectors along an axis, which goes with its axis.
# run: channels_last,dce
# target: cpu:v3
module @m {
  weight @w : i8[8, 6] = splat(3)
  weight @s : f32[6] = splat(0.5)
  graph @main(%x: u8[B, 5, 4, 8]) -> (f32[B, 5, 4, 6], f32[B, 5, 4, 6]) {
    %0 = matmul_integer %x, @w : i32[B, 5, 4, 6]
    %1 = transpose %0 {perm = [0, 3, 1, 2]} : i32[B, 6, 5, 4]
    %2 = dequantize %1, @s {axis = 1} : f32[B, 6, 5, 4]
    %3 = transpose %2 {perm = [0, 2, 3, 1]} : f32[B, 5, 4, 6]
    %4 = const {value = 0.25} : f32[]
    %5 = const {value = 7} : i32[]
    %6 = dequantize %1, %4, %5 : f32[B, 6, 5, 4]
    %7 = transpose %6 {perm = [0, 2, 3, 1]} : f32[B, 5, 4, 6]
    ret %3, %7
  }
}
# expect:
module @m {
  weight @w : i8[8, 6] = splat(3)
  weight @s : f32[6] = splat(0.5)
  graph @main(%x: u8[B, 5, 4, 8]) -> (f32[B, 5, 4, 6], f32[B, 5, 4, 6]) {
    %0 = matmul_integer %x, @w : i32[B, 5, 4, 6]
    %1 = dequantize %0, @s {axis = 3} : f32[B, 5, 4, 6]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 6, 5, 4]
    %3 = transpose %2 {perm = [0, 2, 3, 1]} : f32[B, 5, 4, 6]
    %4 = const {value = 0.25} : f32[]
    %5 = const {value = 7} : i32[]
    %6 = dequantize %0, %4, %5 : f32[B, 5, 4, 6]
    %7 = transpose %6 {perm = [0, 3, 1, 2]} : f32[B, 6, 5, 4]
    %8 = transpose %7 {perm = [0, 2, 3, 1]} : f32[B, 5, 4, 6]
    ret %3, %8
  }
}
