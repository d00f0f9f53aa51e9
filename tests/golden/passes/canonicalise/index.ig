# ---- concat_of_concat ----
# concat_of_concat: a concat inside a concat along the same axis dissolves, unless it is used twice.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %z: f32[B, 5]) -> (f32[B, 12], f32[B, 8], f32[B, 11]) {
    %0 = concat %x, %y {axis = 1}
    %1 = concat %0, %z {axis = -1}
    %2 = concat %x, %z {axis = 1}
    %3 = concat %2, %x {axis = 1}
    ret %1, %2, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %z: f32[B, 5]) -> (f32[B, 12], f32[B, 8], f32[B, 11]) {
    %0 = concat %x, %y, %z {axis = 1} : f32[B, 12]
    %1 = concat %x, %z {axis = 1} : f32[B, 8]
    %2 = concat %1, %x {axis = 1} : f32[B, 11]
    ret %0, %1, %2
  }
}
# ---- concat_of_copies ----
# canonicalise: many copies of one value are the value repeated; few, and others between
# them, stay.
# run: canonicalise,dce
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 4]) -> (f32[9*B, 4], f32[B, 40], f32[4*B, 4]) {
    %0 = concat %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : f32[9*B, 4]
    %1 = concat %y, %x, %x, %x, %x, %x, %x, %x, %x, %y {axis = -1} : f32[B, 40]
    %2 = concat %x, %x, %x, %y {axis = 0} : f32[4*B, 4]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 4]) -> (f32[9*B, 4], f32[B, 40], f32[4*B, 4]) {
    %0 = reshape %x {to = [1, B, 4]} : f32[1, B, 4]
    %1 = expand %0 {to = [9, B, 4]} : f32[9, B, 4]
    %2 = reshape %1 {to = [9*B, 4]} : f32[9*B, 4]
    %3 = reshape %x {to = [B, 1, 4]} : f32[B, 1, 4]
    %4 = expand %3 {to = [B, 8, 4]} : f32[B, 8, 4]
    %5 = reshape %4 {to = [B, 32]} : f32[B, 32]
    %6 = concat %y, %5, %y {axis = 1} : f32[B, 40]
    %7 = concat %x, %x, %x, %y {axis = 0} : f32[4*B, 4]
    ret %2, %6, %7
  }
}
# ---- concat_of_one ----
# concat_of_one: a concat of one is that one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = concat %x {axis = 0}
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
# ---- concat_without_empty ----
# concat_without_empty: operands without elements along the axis add nothing.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 0], %z: f32[B, 4]) -> (f32[B, 7], f32[B, 0]) {
    %0 = concat %y, %x, %z {axis = 1}
    %1 = concat %y, %y {axis = -1}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 0], %z: f32[B, 4]) -> (f32[B, 7], f32[B, 0]) {
    %0 = concat %x, %z {axis = 1} : f32[B, 7]
    ret %0, %y
  }
}
# ---- gather_of_equal_elements ----
# canonicalise: an element of a list of one number is that number; other lists are read.
# run: canonicalise,dce
module @m {
  graph @main(%at: i64[N]) -> (i64[N], i64[N]) {
    %0 = const {value = i64[3] [7, 7, 7]}
    %1 = const {value = i64[3] [7, 7, 8]}
    %2 = gather %0, %at {axis = 0, negative = error}
    %3 = gather %1, %at {axis = 0, negative = error}
    ret %2, %3
  }
}
# expect:
module @m {
  graph @main(%at: i64[N]) -> (i64[N], i64[N]) {
    %0 = const {value = [7, 7, 8]} : i64[3]
    %1 = const {value = 7} : i64[]
    %2 = expand %1 {to = [N]} : i64[N]
    %3 = gather %0, %at {axis = 0, negative = error} : i64[N]
    ret %2, %3
  }
}
# ---- gather_of_equal_elements_that_checks ----
# canonicalise: a gather stays that alone refuses positions beyond the list, as of one
# class or one image; it goes where positions are counts up to the last.
# run: canonicalise,dce
module @m {
  graph @main(%at: i64[N], %edges: i64[B], %x: i64[N]) -> (i64[N], i64[N], i64[N], i64[N]) {
    %0 = const {value = i64[1] [0]}
    %1 = gather %0, %at {axis = 0, negative = error}
    %2 = const {value = i64[3] [7, 7, 7]}
    %3 = gather %2, %x {axis = 0, negative = wrap}
    %4 = bucketize %x, %edges {right}
    %5 = const {value = 2} : i64[]
    %6 = min %4, %5
    %7 = gather %2, %6 {axis = 0, negative = error}
    %8 = min %x, %5
    %9 = gather %2, %8 {axis = 0, negative = error}
    ret %1, %3, %7, %9
  }
}
# expect:
module @m {
  graph @main(%at: i64[N], %edges: i64[B], %x: i64[N]) -> (i64[N], i64[N], i64[N], i64[N]) {
    %0 = const {value = [0]} : i64[1]
    %1 = gather %0, %at {axis = 0, negative = error} : i64[N]
    %2 = const {value = [7, 7, 7]} : i64[3]
    %3 = gather %2, %x {axis = 0, negative = wrap} : i64[N]
    %4 = const {value = 2} : i64[]
    %5 = const {value = 7} : i64[]
    %6 = expand %5 {to = [N]} : i64[N]
    %7 = min %x, %4 : i64[N]
    %8 = gather %2, %7 {axis = 0, negative = error} : i64[N]
    ret %1, %3, %6, %8
  }
}
# ---- gather_of_even_indices ----
# gather_of_even_indices: a gather of evenly spaced constant positions is a slice.
# What the run would have checked becomes a guard.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 8, 2], %y: f32[S, 4]) -> (f32[B, 2], f32[B, 3, 2], f32[B, 2, 2, 2], f32[B, 1, 2], f32[4], f32[B, 2, 2]) {
    %0 = const {value = -3} : i64[]
    %1 = gather %x, %0 {axis = 1}
    %2 = const {value = [1, 3, 5]} : i64[3]
    %3 = gather %x, %2 {axis = 1}
    %4 = const {value = [0, 1, 2, 3]} : i64[2, 2]
    %5 = gather %x, %4 {axis = -2}
    %6 = const {value = [7]} : i32[1]
    %7 = gather %x, %6 {axis = 1}
    %8 = const {value = 2} : i64[]
    %9 = gather %y, %8 {axis = 0}
    %10 = const {value = [0, -1]} : i64[2]
    %11 = gather %x, %10 {axis = 1}
    ret %1, %3, %5, %7, %9, %11
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 8, 2], %y: f32[S, 4]) -> (f32[B, 2], f32[B, 3, 2], f32[B, 2, 2, 2], f32[B, 1, 2], f32[4], f32[B, 2, 2]) {
    %0 = slice %x {starts = [0, 5, 0], sizes = [B, 1, 2]} : f32[B, 1, 2]
    %1 = reshape %0 {to = [B, 2]} : f32[B, 2]
    %2 = slice %x {starts = [0, 1, 0], sizes = [B, 3, 2], steps = [1, 2, 1]} : f32[B, 3, 2]
    %3 = slice %x {starts = [0, 0, 0], sizes = [B, 4, 2]} : f32[B, 4, 2]
    %4 = reshape %3 {to = [B, 2, 2, 2]} : f32[B, 2, 2, 2]
    %5 = slice %x {starts = [0, 7, 0], sizes = [B, 1, 2]} : f32[B, 1, 2]
    %6 = slice %y {starts = [2, 0], sizes = [1, 4]} : f32[1, 4]
    %7 = reshape %6 {to = [4]} : f32[4]
    guard le(3, S) "a gather's index is out of range"
    %8 = const {value = [0, -1]} : i64[2]
    %9 = gather %x, %8 {axis = 1} : f32[B, 2, 2]
    ret %1, %2, %4, %5, %7, %9
  }
}
# ---- gather_of_even_indices_out_of_range ----
# gather_of_even_indices: what is out of range, or negative where that is an error, is left for the run to report.
# run: canonicalise
# not run: its ids are always out of range
module @m {
  graph @main(%x: f32[8]) -> (f32[], f32[]) {
    %0 = const {value = 8} : i64[]
    %1 = gather %x, %0 {axis = 0}
    %2 = const {value = -1} : i64[]
    %3 = gather %x, %2 {axis = 0, negative = error}
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[8]) -> (f32[], f32[]) {
    %0 = const {value = 8} : i64[]
    %1 = gather %x, %0 {axis = 0} : f32[]
    %2 = const {value = -1} : i64[]
    %3 = gather %x, %2 {axis = 0, negative = error} : f32[]
    ret %1, %3
  }
}
# ---- slice_of_concat ----
# slice_of_concat: a slice that lies in one operand of a concat is a slice of that one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %a: f32[N], %b: f32[M]) -> (f32[B, 4], f32[B, 2], f32[B, 2], f32[M]) {
    %0 = concat %x, %y {axis = 1}
    %1 = slice %0 {starts = [0, 3], sizes = [B, 4]}
    %2 = slice %0 {starts = [0, 1], sizes = [B, 2]}
    %3 = slice %0 {starts = [0, 2], sizes = [B, 2]}
    %4 = concat %a, %b {axis = 0}
    %5 = slice %4 {starts = [N], sizes = [M]}
    ret %1, %2, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %a: f32[N], %b: f32[M]) -> (f32[B, 4], f32[B, 2], f32[B, 2], f32[M]) {
    %0 = concat %x, %y {axis = 1} : f32[B, 7]
    %1 = slice %x {starts = [0, 1], sizes = [B, 2]} : f32[B, 2]
    %2 = slice %0 {starts = [0, 2], sizes = [B, 2]} : f32[B, 2]
    ret %y, %1, %2, %b
  }
}
# ---- tile_by_expanding ----
# tile_by_expanding: a tile repeats by expanding; repeated once everywhere it is x.
# run: canonicalise
# not run: N is no extent of an input
module @m {
  graph @main(%x: f32[A, B]) -> (f32[2*A, 3*B], f32[A, N*B], f32[A, B]) {
    %0 = const {value = [2, 3]} : i64[2]
    %1 = tile %x, %0
    %2 = dims {values = [1, N]}
    %3 = tile %x, %2
    %4 = const {value = [1, 1]} : i64[2]
    %5 = tile %x, %4
    ret %1, %3, %5
  }
}
# expect:
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
# ---- weight_of_one_element ----
# canonicalise: a stored number is a constant like every other one; a list stays where it is.
# run: canonicalise,dce
module @m {
  weight @one : f32[1] = inline(0x0000803f)
  weight @two : f32[2] = inline(0x0000803f00000040)
  weight @square : f32[1, 1] = inline(0x0000803f)
  graph @main(%x: f32[N, 2]) -> (f32[N, 2]) {
    %0 = add %x, @one : f32[N, 2]
    %1 = add %0, @two : f32[N, 2]
    %2 = add %1, @square : f32[N, 2]
    ret %2
  }
}
# expect:
module @m {
  weight @one : f32[1] = [1]
  weight @two : f32[2] = [1, 2]
  weight @square : f32[1, 1] = [1]
  graph @main(%x: f32[N, 2]) -> (f32[N, 2]) {
    %0 = const {value = [1]} : f32[1]
    %1 = add %x, %0 : f32[N, 2]
    %2 = add %1, @two : f32[N, 2]
    %3 = add %2, @square : f32[N, 2]
    ret %3
  }
}
# ---- axis_from_front ----
# axis_from_front: an axis that counts from the end counts from the front.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 4, 6], %y: f32[B, 3, 6], %i: i64[2], %j: i64[B, 2, 6]) -> (f32[B, 7, 6], f32[B, 2, 6], f32[B, 2, 6]) {
    %0 = concat %x, %y {axis = -2} : f32[B, 7, 6]
    %1 = gather %x, %i {axis = -2} : f32[B, 2, 6]
    %2 = gather_elements %x, %j {axis = -2} : f32[B, 2, 6]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 4, 6], %y: f32[B, 3, 6], %i: i64[2], %j: i64[B, 2, 6]) -> (f32[B, 7, 6], f32[B, 2, 6], f32[B, 2, 6]) {
    %0 = concat %x, %y {axis = 1} : f32[B, 7, 6]
    %1 = gather %x, %i {axis = 1} : f32[B, 2, 6]
    %2 = gather_elements %x, %j {axis = 1} : f32[B, 2, 6]
    ret %0, %1, %2
  }
}
