# ---- expand_with_known_shape ----
# expand_with_known_shape: a shape that is known is an attribute; what the run would have checked is a guard.
# run: canonicalise
# not run: L is no extent of an input
module @m {
  graph @main(%x: f32[B, 1], %y: f32[N]) -> (f32[B, 7], f32[L, N], f32[bcast(N, M)]) {
    %0 = const {value = [1, 7]} : i64[2]
    %1 = expand %x, %0
    %2 = dims {values = [L, 1]}
    %3 = expand %y, %2
    %4 = dims {values = [M]}
    %5 = expand %y, %4 : f32[bcast(N, M)]
    ret %1, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 1], %y: f32[N]) -> (f32[B, 7], f32[L, N], f32[bcast(M, N)]) {
    %0 = expand %x {to = [1, 7]} : f32[B, 7]
    %1 = expand %y {to = [L, 1]} : f32[L, N]
    %2 = expand %y {to = [M]} : f32[bcast(M, N)]
    guard eq(bcast(N, M), bcast(M, N)) "extents do not broadcast"
    ret %0, %1, %2
  }
}
# ---- extreme_of_copies ----
# canonicalise: the largest of copies is the one; where there may be none, sums, and axes
# that are not copied stay.
# run: canonicalise,dce
# not run: M and N are no extents of an input, and the copies are too many
module @m {
  symbol N {min = 0}
  symbol M {min = 1}
  graph @main(%x: f32[4, 1], %c: f32[]) -> (f32[4], f32[], f32[7, 1], f32[4], f32[4]) {
    %0 = expand %x {to = [7, 4, 1048576]} : f32[7, 4, 1048576]
    %1 = reduce %0 {op = max, axes = [0, -1]} : f32[4]
    %2 = expand %c {to = [1048576, 1048576, M]} : f32[1048576, 1048576, M]
    %3 = reduce %2 {op = min} : f32[]
    %4 = reduce %0 {op = max, axes = [1, 2], keep} : f32[7, 1, 1]
    %5 = reshape %4 {to = [7, 1]} : f32[7, 1]
    %6 = expand %x {to = [4, N]} : f32[4, N]
    %7 = reduce %6 {op = max, axes = [1]} : f32[4]
    %8 = reduce %0 {op = sum, axes = [0, 2]} : f32[4]
    ret %1, %3, %5, %7, %8
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 1], %c: f32[]) -> (f32[4], f32[], f32[7, 1], f32[4], f32[4]) {
    %0 = expand %x {to = [7, 4, 1048576]} : f32[7, 4, 1048576]
    %1 = expand %x {to = [1, 4, 1]} : f32[1, 4, 1]
    %2 = reduce %1 {op = max, axes = [0, -1]} : f32[4]
    %3 = expand %c {to = [1, 1, 1]} : f32[1, 1, 1]
    %4 = reduce %3 {op = min} : f32[]
    %5 = expand %x {to = [7, 4, 1]} : f32[7, 4, 1]
    %6 = reduce %5 {op = max, axes = [1, 2], keep} : f32[7, 1, 1]
    %7 = reshape %6 {to = [7, 1]} : f32[7, 1]
    %8 = expand %x {to = [4, N]} : f32[4, N]
    %9 = reduce %8 {op = max, axes = [1]} : f32[4]
    %10 = reduce %0 {op = sum, axes = [0, 2]} : f32[4]
    ret %2, %4, %7, %9, %10
  }
}
# ---- pad_with_known_widths ----
# pad_with_known_widths: widths that are known are attributes.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 4], %v: f32[]) -> (f32[B + 1, 6], f32[B, 7], f32[B, 6]) {
    %0 = const {value = [1, 0, 0, 2]} : i64[4]
    %1 = pad %x, %0
    %2 = const {value = [1, 2]} : i64[2]
    %3 = const {value = [-1]} : i64[1]
    %4 = pad %x, %2, %v, %3
    %5 = dims {values = [0, 1, 0, 1]}
    %6 = pad %x, %5 {mode = edge}
    ret %1, %4, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 4], %v: f32[]) -> (f32[B + 1, 6], f32[B, 7], f32[B, 6]) {
    %0 = pad %x {before = [1, 0], after = [0, 2]} : f32[B + 1, 6]
    %1 = pad %x, %v {before = [0, 1], after = [0, 2]} : f32[B, 7]
    %2 = pad %x {before = [0, 1], after = [0, 1], mode = edge} : f32[B, 6]
    ret %0, %1, %2
  }
}
# ---- reduce_with_known_axes ----
# reduce_with_known_axes: axes that are known are attributes; none at all are all, or none where the op says so.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3, 4]) -> (f32[B, 4], f32[B, 1, 1], f32[], f32[B, 3, 4]) {
    %0 = const {value = [1]} : i64[1]
    %1 = reduce %x, %0
    %2 = const {value = [-1, 1]} : i64[2]
    %3 = reduce %x, %2 {op = max, keep}
    %4 = const {value = []} : i64[0]
    %5 = reduce %x, %4 {op = mean}
    %6 = reduce %x, %4 {op = sumsq, noop_if_empty}
    ret %1, %3, %5, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 4]) -> (f32[B, 4], f32[B, 1, 1], f32[], f32[B, 3, 4]) {
    %0 = reduce %x {axes = [1]} : f32[B, 4]
    %1 = reduce %x {op = max, axes = [-1, 1], keep} : f32[B, 1, 1]
    %2 = reduce %x {op = mean} : f32[]
    %3 = reduce %x {op = sumsq, axes = [], noop_if_empty} : f32[B, 3, 4]
    ret %0, %1, %2, %3
  }
}
# ---- reshape_with_known_shape ----
# reshape_with_known_shape: a shape that is known is an attribute; what the run would have checked is a guard.
# run: canonicalise
# values: s below 4
module @m {
  graph @main(%x: f32[B, 6], %y: f32[N], %s: i64[2]) -> (f32[3*B, 2], f32[B, 3], f32[B, 2, 3], f32[P, Q]) {
    %0 = const {value = [-1, 2]} : i64[2]
    %1 = reshape %x, %0
    %2 = dims {values = [B, 3]}
    %3 = reshape %y, %2
    %4 = dims {values = [B, -1, 3]}
    %5 = reshape %x, %4
    %6 = reshape %y, %s : f32[P, Q]
    ret %1, %3, %5, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 6], %y: f32[N], %s: i64[2]) -> (f32[3*B, 2], f32[B, 3], f32[B, 2, 3], f32[P, Q]) {
    %0 = reshape %x {to = [3*B, 2]} : f32[3*B, 2]
    %1 = reshape %y {to = [B, 3]} : f32[B, 3]
    guard eq(N, 3*B) "a reshape keeps the number of elements"
    %2 = reshape %x {to = [B, 2, 3]} : f32[B, 2, 3]
    %3 = reshape %y, %s : f32[P, Q]
    ret %0, %1, %2, %3
  }
}
# ---- slice_with_known_positions ----
# slice_with_known_positions: positions that are known are attributes, counted from the front and clamped.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 10], %n: i64[1]) -> (f32[B, 3], f32[max(B - 1, 0), 10], f32[B, 5], f32[T, 10]) {
    %0 = const {value = [-3]} : i64[1]
    %1 = const {value = [9223372036854775807]} : i64[1]
    %2 = const {value = [1]} : i64[1]
    %3 = slice %x, %0, %1, %2
    %4 = slice %x, %2, %1 : f32[max(B - 1, 0), 10]
    %5 = const {value = [-1]} : i64[1]
    %6 = const {value = [-9223372036854775807]} : i64[1]
    %7 = const {value = [-2]} : i64[1]
    %8 = slice %x, %5, %6, %2, %7
    %9 = slice %x, %n, %1 : f32[T, 10]
    ret %3, %4, %8, %9
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 10], %n: i64[1]) -> (f32[B, 3], f32[max(0, B - 1), 10], f32[B, 5], f32[T, 10]) {
    %0 = const {value = [9223372036854775807]} : i64[1]
    %1 = slice %x {starts = [0, 7], sizes = [B, 3]} : f32[B, 3]
    %2 = slice %x {starts = [min(B, 1), 0], sizes = [max(0, B - 1), 10]} : f32[max(0, B - 1), 10]
    %3 = slice %x {starts = [0, 9], sizes = [B, 5], steps = [1, -2]} : f32[B, 5]
    %4 = slice %x, %n, %0 : f32[T, 10]
    ret %1, %2, %3, %4
  }
}
