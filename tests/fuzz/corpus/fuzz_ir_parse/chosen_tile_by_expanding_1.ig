module @m {
  graph @main(%x: f32[A, B]) -> (f32[2*A, 3*B], f32[A, B*N], f32[A, B]) {
    %0 = reshape %x {to = [1, A, 1, B]} : f32[1, A, 1, B]
    %1 = expand %0 {to = [2, A, 3, B]} : f32[2, A, 3, B]
    %2 = reshape %1 {to = [2*A, 3*B]} : f32[2*A, 3*B]
    %3 = reshape %x {to = [A, 1, B]} : f32[A, 1, B]
    %4 = expand %3 {to = [A, N, B]} : f32[A, N, B]
    %5 = reshape %4 {to = [A, B*N]} : f32[A, B*N]
    ret %2, %5, %x
  }
}
