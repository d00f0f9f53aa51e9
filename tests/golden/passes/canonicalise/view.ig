# ---- cast_of_widening_cast ----
# cast_of_widening_cast: a cast to a dtype that holds every value changes nothing for the cast behind it.
# run: canonicalise
module @m {
  graph @main(%x: f16[B], %i: i64[B], %p: bool[B]) -> (f32[B], i64[B], f32[B]) {
    %0 = cast %x {to = f64}
    %1 = cast %0 {to = f32}
    %2 = cast %i {to = i32}
    %3 = cast %2 {to = i64}
    %4 = cast %p {to = i32}
    %5 = cast %4 {to = f32}
    ret %1, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f16[B], %i: i64[B], %p: bool[B]) -> (f32[B], i64[B], f32[B]) {
    %0 = cast %x {to = f32} : f32[B]
    %1 = cast %i {to = i32} : i32[B]
    %2 = cast %1 {to = i64} : i64[B]
    %3 = cast %p {to = f32} : f32[B]
    ret %0, %2, %3
  }
}
# ---- cast_to_same ----
# cast_to_same: a cast to the dtype that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = cast %x {to = f32}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
# ---- expand_of_expand ----
# expand_of_expand: two expands are one.
# run: canonicalise
# not run: A is no extent of an input
module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [B, 3]}
    %1 = expand %0 {to = [A, 1, 1]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[3]) -> (f32[A, B, 3]) {
    %0 = expand %x {to = [A, B, 3]} : f32[A, B, 3]
    ret %0
  }
}
# ---- expand_to_same ----
# expand_to_same: an expand to the shape that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3]) {
    %0 = expand %x {to = [B, 1]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3]) {
    ret %x
  }
}
# ---- matmul_of_other_transpose ----
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
# ---- matmul_of_transpose ----
# matmul_of_transpose: matmul reads its operands transposed as well.
# run: canonicalise
module @m {
  weight @w : f32[8, 4] = splat(1)
  graph @main(%x: f32[B, 4], %y: f32[H, 5, 3], %z: f32[H, 7, 5]) -> (f32[B, 8], f32[H, 7, 3], f32[B, B]) {
    %0 = transpose @w {perm = [1, 0]}
    %1 = matmul %x, %0
    %2 = matmul %z, %y
    %3 = transpose %x {perm = [1, 0]}
    %4 = matmul %3, %3 {transpose_a}
    ret %1, %2, %4
  }
}
# expect:
module @m {
  weight @w : f32[8, 4] = splat(1)
  graph @main(%x: f32[B, 4], %y: f32[H, 5, 3], %z: f32[H, 7, 5]) -> (f32[B, 8], f32[H, 7, 3], f32[B, B]) {
    %0 = matmul %x, @w {transpose_b} : f32[B, 8]
    %1 = matmul %z, %y : f32[H, 7, 3]
    %2 = matmul %x, %x {transpose_b} : f32[B, B]
    ret %0, %1, %2
  }
}
# ---- reshape_of_reshape ----
# reshape_of_reshape: of two reshapes the last decides.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 52]) -> (f32[B, 4, 13]) {
    %0 = reshape %x {to = [52*B]}
    %1 = reshape %0 {to = [B, 4, 13]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 52]) -> (f32[B, 4, 13]) {
    %0 = reshape %x {to = [B, 4, 13]} : f32[B, 4, 13]
    ret %0
  }
}
# ---- reshape_to_same ----
# reshape_to_same: a reshape to the shape that x has is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 2, L]) -> (f32[B, 2, L]) {
    %0 = reshape %x {to = [B, 2, L]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 2, L]) -> (f32[B, 2, L]) {
    ret %x
  }
}
# ---- slice_of_all ----
# slice_of_all: a slice of everything is x; backwards it is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3], f32[B, 3]) {
    %0 = slice %x {starts = [0, 0], sizes = [B, 3]}
    %1 = slice %x {starts = [0, 2], sizes = [B, 3], steps = [1, -1]}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3], f32[B, 3]) {
    %0 = slice %x {starts = [0, 2], sizes = [B, 3], steps = [1, -1]} : f32[B, 3]
    ret %x, %0
  }
}
# ---- slice_of_slice ----
# slice_of_slice: two slices are one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 20]) -> (f32[B, 3]) {
    %0 = slice %x {starts = [0, 1], sizes = [B, 9], steps = [1, 2]}
    %1 = slice %0 {starts = [0, 8], sizes = [B, 3], steps = [1, -3]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 20]) -> (f32[B, 3]) {
    %0 = slice %x {starts = [0, 17], sizes = [B, 3], steps = [1, -6]} : f32[B, 3]
    ret %0
  }
}
# ---- transpose_is_reshape ----
# transpose_is_reshape: a transpose that only moves axes of extent 1 is a reshape.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 1, S, D], %y: f32[B, S, 1, D]) -> (f32[B, S, 1, D], f32[S, B, 1, D]) {
    %0 = transpose %x {perm = [0, 2, 1, 3]}
    %1 = transpose %y {perm = [1, 0, 2, 3]}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 1, S, D], %y: f32[B, S, 1, D]) -> (f32[B, S, 1, D], f32[S, B, 1, D]) {
    %0 = reshape %x {to = [B, S, 1, D]} : f32[B, S, 1, D]
    %1 = transpose %y {perm = [1, 0, 2, 3]} : f32[S, B, 1, D]
    ret %0, %1
  }
}
# ---- transpose_of_transpose ----
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
# ---- transpose_to_same ----
# transpose_to_same: a transpose that leaves every axis where it is is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, L, 3]) -> (f32[B, L, 3]) {
    %0 = transpose %x {perm = [0, 1, 2]}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, L, 3]) -> (f32[B, L, 3]) {
    ret %x
  }
}
