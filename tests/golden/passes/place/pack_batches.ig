# pack: matrices of few rows that all meet one computed factor are one product; views and
# matrices of many rows stay.
# run: pack
# target: cpu:v3
module @m {
  graph @main(%x: f32[A, B, 5], %y: f32[20, 5], %z: f32[A, 40, 5], %t: f32[A, 5, B]) -> (f32[A, B, 20], f32[A, 40, 20], f32[A, B, 20]) {
    %0 = matmul %x, %y {transpose_b} : f32[A, B, 20]
    %1 = matmul %z, %y {transpose_b} : f32[A, 40, 20]
    %2 = transpose %t {perm = [0, 2, 1]} : f32[A, B, 5]
    %3 = matmul %2, %y {transpose_b} : f32[A, B, 20]
    ret %0, %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[A, B, 5], %y: f32[20, 5], %z: f32[A, 40, 5], %t: f32[A, 5, B]) -> (f32[A, B, 20], f32[A, 40, 20], f32[A, B, 20]) {
    %0 = reshape %x {to = [A*B, 5]} : f32[A*B, 5]
    %1 = matmul %0, %y {transpose_b} : f32[A*B, 20]
    %2 = reshape %1 {to = [A, B, 20]} : f32[A, B, 20]
    %3 = matmul %z, %y {transpose_b} : f32[A, 40, 20]
    %4 = transpose %t {perm = [0, 2, 1]} : f32[A, B, 5]
    %5 = matmul %4, %y {transpose_b} : f32[A, B, 20]
    ret %2, %3, %5
  }
}
