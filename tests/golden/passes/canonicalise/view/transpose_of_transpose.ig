# transpose_of_transpose: two transposes are one, and here the second pair is none.
# run: canonicalise
module @m {
  graph @main(%x: f32[A, B, C]) -> (f32[C, A, B], f32[A, B, C]) {
    %0 = transpose %x {perm = [1, 0, 2]}
    %1 = transpose %0 {perm = [2, 1, 0]}
    %2 = transpose %x {perm = [2, 0, 1]}
    %3 = transpose %2 {perm = [1, 2, 0]}
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[A, B, C]) -> (f32[C, A, B], f32[A, B, C]) {
    %0 = transpose %x {perm = [2, 0, 1]} : f32[C, A, B]
    ret %0, %x
  }
}
