# sink: scales of an integer product go in front of its reshape.
# run: sink
module @m {
  weight @w : i8[1, 2, 16, 4] = splat(3)
  weight @s : f32[16] = splat(0.5)
  graph @main(%y: u8[A, B, 5]) -> (f32[A, B, 16]) {
    %x = reshape %y {to = [A*B, 5]} : u8[A*B, 5]
    %0 = matmul_quads %x, @w {columns = 16} : i32[A*B, 16]
    %1 = reshape %0 {to = [A, B, 16]} : i32[A, B, 16]
    %2 = cast %1 {to = f32} : f32[A, B, 16]
    %3 = mul %2, @s : f32[A, B, 16]
    ret %3
  }
}
# expect:
module @m {
  weight @w : i8[1, 2, 16, 4] = splat(3)
  weight @s : f32[16] = splat(0.5)
  graph @main(%y: u8[A, B, 5]) -> (f32[A, B, 16]) {
    %0 = reshape %y {to = [A*B, 5]} : u8[A*B, 5]
    %1 = matmul_quads %0, @w {columns = 16} : i32[A*B, 16]
    %2 = cast %1 {to = f32} : f32[A*B, 16]
    %3 = mul %2, @s : f32[A*B, 16]
    %4 = reshape %3 {to = [A, B, 16]} : f32[A, B, 16]
    ret %4
  }
}
