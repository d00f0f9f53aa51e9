module @types {
  graph @main(%x: f32[B, 4], %y: f32[5], %z: f33[2], %w: f32[2]) {
  }
  graph @second(%x: f32[B, 4], %y: f32[5], %c: bool[]) -> (f32[B, 3], f32[]) {
    %0 = relu %x : f32[B, 5]
    %1 = relu %x : f16[B, 4]
    %2 = add %x, %y
    %3 = if %c { yield %x } else { yield %x }
    %4 = relu %x : f32[B, 4], f32[B, 4]
    %5 = matmul %y, %x : f32[4
    %6 = relu %x : f32<0>[2]
    %7 = relu %x : f32[-1]
    %8 = relu %x : f32<rowwise f64>[2, 2]
    %9 = relu %x : i8<rowwise f16>[2]
    %10 = relu %x : seq<f32[2]
    %11 = relu %x : f32<70000>
    %12 = transpose %x {perm = [0, 0]}
    %13 = transpose %x
    ret %x, %x
  }
}
