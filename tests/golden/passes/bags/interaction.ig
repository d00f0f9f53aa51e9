# ---- forms ----
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
# ---- stays ----
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
  graph @other_samples(%x: f32[B, 3, 8]) -> (f32[max(0, B - 1), 3]) {
    %at = const {value = [3, 6, 7]} : i64[3]
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = slice %0 {starts = [min(B, 1), 0, 0], sizes = [max(0, B - 1), 3, 3]}
    %2 = reshape %1 {to = [max(0, B - 1), 9]}
    %3 = gather %2, %at {axis = 1}
    ret %3
  }
  graph @first_sample(%x: f32[2, 3, 8]) -> (f32[1, 3]) {
    %at = const {value = [3, 6, 7]} : i64[3]
    %0 = matmul %x, %x {transpose_b}
    %1 = slice %0 {starts = [1, 0, 0], sizes = [1, 3, 3]}
    %2 = reshape %1 {to = [1, 9]}
    %3 = gather %2, %at {axis = 1}
    ret %3
  }
  graph @backwards(%x: f32[2, 3, 8]) -> (f32[2, 3]) {
    %at = const {value = [3, 6, 7]} : i64[3]
    %0 = matmul %x, %x {transpose_b}
    %1 = slice %0 {starts = [1, 0, 0], sizes = [2, 3, 3], steps = [-1, 1, 1]}
    %2 = reshape %1 {to = [2, 9]}
    %3 = gather %2, %at {axis = 1}
    ret %3
  }
  graph @samples_move(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %at = const {value = [3, 6, 7]} : i64[3]
    %0 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %1 = reshape %0 {to = [3, B, 3]}
    %2 = transpose %1 {perm = [1, 0, 2]}
    %3 = reshape %2 {to = [B, 9]}
    %4 = gather %3, %at {axis = 1}
    ret %4
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
  graph @other_samples(%x: f32[B, 3, 8]) -> (f32[max(0, B - 1), 3]) {
    %0 = const {value = [3, 6, 7]} : i64[3]
    %1 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %2 = slice %1 {starts = [min(B, 1), 0, 0], sizes = [max(0, B - 1), 3, 3]} : f32[max(0, B - 1), 3, 3]
    %3 = reshape %2 {to = [max(0, B - 1), 9]} : f32[max(0, B - 1), 9]
    %4 = gather %3, %0 {axis = 1} : f32[max(0, B - 1), 3]
    ret %4
  }
  graph @first_sample(%x: f32[2, 3, 8]) -> (f32[1, 3]) {
    %0 = const {value = [3, 6, 7]} : i64[3]
    %1 = matmul %x, %x {transpose_b} : f32[2, 3, 3]
    %2 = slice %1 {starts = [1, 0, 0], sizes = [1, 3, 3]} : f32[1, 3, 3]
    %3 = reshape %2 {to = [1, 9]} : f32[1, 9]
    %4 = gather %3, %0 {axis = 1} : f32[1, 3]
    ret %4
  }
  graph @backwards(%x: f32[2, 3, 8]) -> (f32[2, 3]) {
    %0 = const {value = [3, 6, 7]} : i64[3]
    %1 = matmul %x, %x {transpose_b} : f32[2, 3, 3]
    %2 = slice %1 {starts = [1, 0, 0], sizes = [2, 3, 3], steps = [-1, 1, 1]} : f32[2, 3, 3]
    %3 = reshape %2 {to = [2, 9]} : f32[2, 9]
    %4 = gather %3, %0 {axis = 1} : f32[2, 3]
    ret %4
  }
  graph @samples_move(%x: f32[B, 3, 8]) -> (f32[B, 3]) {
    %0 = const {value = [3, 6, 7]} : i64[3]
    %1 = matmul %x, %x {transpose_b} : f32[B, 3, 3]
    %2 = reshape %1 {to = [3, B, 3]} : f32[3, B, 3]
    %3 = transpose %2 {perm = [1, 0, 2]} : f32[B, 3, 3]
    %4 = reshape %3 {to = [B, 9]} : f32[B, 9]
    %5 = gather %4, %0 {axis = 1} : f32[B, 3]
    ret %5
  }
}
