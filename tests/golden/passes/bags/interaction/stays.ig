# interaction: all of the product is used, or indices that only the run knows, or another
# matrix.
# run: interaction,dce
module @m {
  graph @all(%x: f32[B, 3, 8]) -> (f32[B, 9]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    ret %1
  }
  graph @some_and_all(%x: f32[B, 3, 8]) -> (f32[B, 2], f32[B, 3, 3]) {
    %at = const {value = [1, 2]} : i64[2]
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    %2 = gather %1, %at {axis = 1} : f32[B, 2]
    %3 = relu %0 : f32[B, 3, 3]
    ret %2, %3
  }
  graph @unknown(%x: f32[B, 3, 8], %at: i64[2]) -> (f32[B, 2]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    %2 = gather %1, %at {axis = 1} : f32[B, 2]
    ret %2
  }
  graph @other(%x: f32[B, 3, 8], %y: f32[B, 3, 8]) -> (f32[B, 2]) {
    %at = const {value = [1, 2]} : i64[2]
    %0 = matmul %x, %y {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    %2 = gather %1, %at {axis = 1} : f32[B, 2]
    ret %2
  }
}
# expect:
module @m {
  graph @all(%x: f32[B, 3, 8]) -> (f32[B, 9]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    ret %1
  }
  graph @some_and_all(%x: f32[B, 3, 8]) -> (f32[B, 2], f32[B, 3, 3]) {
    %0 = const {value = [1, 2]} : i64[2]
    %1 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %2 = reshape %1 {to = [B, 9]} : f32[B, 9]
    %3 = gather %2, %0 {axis = 1} : f32[B, 2]
    %4 = relu %1 : f32[B, 3, 3]
    ret %3, %4
  }
  graph @unknown(%x: f32[B, 3, 8], %at: i64[2]) -> (f32[B, 2]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [B, 9]} : f32[B, 9]
    %2 = gather %1, %at {axis = 1} : f32[B, 2]
    ret %2
  }
  graph @other(%x: f32[B, 3, 8], %y: f32[B, 3, 8]) -> (f32[B, 2]) {
    %0 = const {value = [1, 2]} : i64[2]
    %1 = matmul %x, %y {transpose_b} : f32[B, 3, 3]
    %2 = reshape %1 {to = [B, 9]} : f32[B, 9]
    %3 = gather %2, %0 {axis = 1} : f32[B, 2]
    ret %3
  }
}
