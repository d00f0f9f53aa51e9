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
