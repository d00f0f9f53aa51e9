# interaction: the lower triangle of three rows, in five spellings.
# run: interaction,dce
module @m {
  graph @gather_nd(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %at = const {value = [1, 0, 2, 0, 2, -2]} : i64[3, 2]
    %0 = transpose %x {perm = [0, 2, 1]} : f32[B, 8, 3]
    %1 = matmul %x, %0 : f32[B, 3, 3]
    %2 = transpose %1 {perm = [1, 2, 0]} : f32[3, 3, B]
    %3 = gather_nd %2, %at : f32[3, B]
    %4 = transpose %3 {perm = [1, 0]} : f32[B, 3]
    ret %4
  }
  graph @flat_last(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %at = const {value = [3, 6, 7]} : i64[3]
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = transpose %0 {perm = [1, 2, 0]} : f32[3, 3, B]
    %2 = reshape %1 {to = [9, B]} : f32[9, B]
    %3 = gather %2, %at {axis = 0} : f32[3, B]
    %4 = transpose %3 {perm = [1, 0]} : f32[B, 3]
    ret %4
  }
  graph @flat_first(%x: f32[B, 3, 8]) -> (f32[B, 3, 1]) {
    %at = const {value = [3, 6, 7]} : i64[3, 1]
    %0 = transpose %x {perm = [0, 2, 1]} : f32[B, 8, 3]
    %1 = matmul %0, %0 {transpose_a} : f32[B, 3, 3]
    %2 = reshape %1 {to = [B, 9]} : f32[B, 9]
    %3 = gather %2, %at {axis = 1} : f32[B, 3, 1]
    ret %3
  }
  graph @slices(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = slice %0 {starts = [0, 1, 0], sizes = [B, 1, 1]} : f32[B, 1, 1]
    %2 = slice %0 {starts = [0, 2, 0], sizes = [B, 1, 2]} : f32[B, 1, 2]
    %3 = reshape %1 {to = [B, 1]} : f32[B, 1]
    %4 = reshape %2 {to = [B, 2]} : f32[B, 2]
    %5 = concat %3, %4 {axis = 1} : f32[B, 3]
    ret %5
  }
  graph @per_sample(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %at = const {value = [1, 0, 2, 0, 2, 1]} : i64[3, 2]
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = expand %at {to = [B, 3, 2]} : i64[B, 3, 2]
    %2 = gather_nd %0, %1 {batch = 1} : f32[B, 3]
    ret %2
  }
}
# expect:
module @m {
  graph @gather_nd(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = interact %x {pairs = [3, 6, 7]} : f32[B, 3]
    ret %0
  }
  graph @flat_last(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = interact %x {pairs = [3, 6, 7]} : f32[B, 3]
    ret %0
  }
  graph @flat_first(%x: f32[B, 3, 8]) -> (f32[B, 3, 1]) {
    %0 = interact %x {pairs = [3, 6, 7]} : f32[B, 3]
    %1 = reshape %0 {to = [B, 3, 1]} : f32[B, 3, 1]
    ret %1
  }
  graph @slices(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = interact %x {pairs = [3, 6, 7]} : f32[B, 3]
    ret %0
  }
  graph @per_sample(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = interact %x {pairs = [3, 6, 7]} : f32[B, 3]
    ret %0
  }
}
