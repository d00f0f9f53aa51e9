# ---- levels ----
# bag_merge: a bag whose ids come from another bag's result is of the next level; one with
# other rules for ids stays apart; blocks are merged each on its own.
# run: bag_merge
module @m {
  weight @a : f32[11, 4] = splat(1)
  graph @main(%i: i64[B], %j: i64[B], %c: bool[]) -> (f32[B, 4], f32[B, 4], f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0 = bag @a, %i {operands = [0], pool = [none]} : f32[B, 4]
    %1 = slice %0 {starts = [0, 0], sizes = [B, 1]} : f32[B, 1]
    %2 = reshape %1 {to = [B]} : f32[B]
    %3 = cast %2 {to = i64} : i64[B]
    %4 = bag @a, %3 {operands = [0], pool = [none]} : f32[B, 4]
    %5 = bag @a, %j {operands = [0], pool = [none]} : f32[B, 4]
    %6 = if %c : f32[B, 4] {
      %7 = bag @a, %3 {operands = [0], pool = [none]} : f32[B, 4]
      %8 = bag @a, %i {operands = [0], pool = [none]} : f32[B, 4]
      %9 = add %7, %8 : f32[B, 4]
      yield %9
    } else {
      yield %4
    }
    %10 = bag @a, %3 {operands = [0], pool = [none]} : f32[B, 4]
    %11 = bag @a, %j {operands = [0], pool = [none], negative = error} : f32[B, 4]
    ret %4, %5, %6, %10, %11
  }
}
# expect:
module @m {
  weight @a : f32[11, 4] = splat(1)
  graph @main(%i: i64[B], %j: i64[B], %c: bool[]) -> (f32[B, 4], f32[B, 4], f32[B, 4], f32[B, 4], f32[B, 4]) {
    %0, %1 = bag @a, %i, @a, %j {operands = [0, 0], pool = [none, none]} : f32[B, 4], f32[B, 4]
    %2 = slice %0 {starts = [0, 0], sizes = [B, 1]} : f32[B, 1]
    %3 = reshape %2 {to = [B]} : f32[B]
    %4 = cast %3 {to = i64} : i64[B]
    %5, %6 = bag @a, %4, @a, %4 {operands = [0, 0], pool = [none, none]} : f32[B, 4], f32[B, 4]
    %7 = if %c : f32[B, 4] {
      %8, %9 = bag @a, %4, @a, %i {operands = [0, 0], pool = [none, none]} : f32[B, 4], f32[B, 4]
      %10 = add %8, %9 : f32[B, 4]
      yield %10
    } else {
      yield %5
    }
    %11 = bag @a, %j {operands = [0], pool = [none], negative = error} : f32[B, 4]
    ret %5, %1, %7, %6, %11
  }
}
# ---- order ----
# bag_merge: features that are alike stand side by side, larger tables first; what needs a
# result moves behind the merged op, the rest stays.
# run: bag_merge
module @m {
  weight @a : f32[11, 4] = splat(1)
  weight @b : f32[11, 8] = splat(1)
  weight @c : f32[99, 4] = splat(1)
  graph @main(%i: i64[N], %j: i64[M], %o: i64[B], %x: i64[B]) -> (f32[B, 4], f32[B, 8], f32[B, 4], f32[B, 4], i64[B]) {
    %0 = bag @a, %i, %o {operands = [1], pool = [sum]} : f32[B, 4]
    %1 = relu %0 : f32[B, 4]
    %2 = neg %x : i64[B]
    %3 = bag @b, %j, %o {operands = [1], pool = [mean], empty = [nan]} : f32[B, 8]
    %4 = bag @a, %2 {operands = [0], pool = [none]} : f32[B, 4]
    %5 = bag @c, %j, %o {operands = [1], pool = [sum], padding = [3]} : f32[B, 4]
    %6 = bag @c, %j, %o {operands = [1], pool = [sum]} : f32[B, 4]
    %7 = add %1, %6 : f32[B, 4]
    ret %7, %3, %4, %5, %2
  }
}
# expect:
module @m {
  weight @a : f32[11, 4] = splat(1)
  weight @b : f32[11, 8] = splat(1)
  weight @c : f32[99, 4] = splat(1)
  graph @main(%i: i64[N], %j: i64[M], %o: i64[B], %x: i64[B]) -> (f32[B, 4], f32[B, 8], f32[B, 4], f32[B, 4], i64[B]) {
    %0 = neg %x : i64[B]
    %1, %2, %3, %4, %5 = bag @c, %j, %o, @a, %i, %o, @c, %j, %o, @b, %j, %o, @a, %0 {operands = [1, 1, 1, 1, 0], pool = [sum, sum, sum, mean, none], padding = [-9223372036854775808, -9223372036854775808, 3, -9223372036854775808, -9223372036854775808], empty = [zero, zero, zero, nan, zero]} : f32[B, 4], f32[B, 4], f32[B, 4], f32[B, 8], f32[B, 4]
    %6 = relu %2 : f32[B, 4]
    %7 = add %6, %1 : f32[B, 4]
    ret %7, %4, %5, %3, %0
  }
}
