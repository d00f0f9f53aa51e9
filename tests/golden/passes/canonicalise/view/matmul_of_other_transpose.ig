# matmul_of_transpose: only the last two axes, and no others, may change places.
# run: canonicalise
module @m {
  graph @batches(%x: f32[2, 2, 4, 3], %y: f32[2, 2, 4, 5]) -> (f32[2, 2, 3, 5], f32[2, 2, 5, 3]) {
    %0 = transpose %x {perm = [1, 0, 3, 2]}
    %1 = matmul %0, %y
    %2 = transpose %y {perm = [1, 0, 3, 2]}
    %3 = matmul %2, %x
    ret %1, %3
  }
  graph @first(%x: f32[3, 3, 3], %y: f32[3, 3, 3]) -> (f32[3, 3, 3]) {
    %0 = transpose %x {perm = [1, 0, 2]}
    %1 = matmul %0, %y
    ret %1
  }
}
# expect:
module @m {
  graph @batches(%x: f32[2, 2, 4, 3], %y: f32[2, 2, 4, 5]) -> (f32[2, 2, 3, 5], f32[2, 2, 5, 3]) {
    %0 = transpose %x {perm = [1, 0, 3, 2]} : f32[2, 2, 3, 4]
    %1 = matmul %0, %y : f32[2, 2, 3, 5]
    %2 = transpose %y {perm = [1, 0, 3, 2]} : f32[2, 2, 5, 4]
    %3 = matmul %2, %x : f32[2, 2, 5, 3]
    ret %1, %3
  }
  graph @first(%x: f32[3, 3, 3], %y: f32[3, 3, 3]) -> (f32[3, 3, 3]) {
    %0 = transpose %x {perm = [1, 0, 2]} : f32[3, 3, 3]
    %1 = matmul %0, %y : f32[3, 3, 3]
    ret %1
  }
}
