# bag_offsets: even begins are a matrix of ids, ends that are the next begins one list; others stay.
# run: bag_offsets,dce
# not run: B is no extent of an input
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[3*B], %more: i64[N], %off: i64[C], %w: f32[3*B]) -> (f32[B, 4], f32[max(0, C - 1), 4], f32[B, 4]) {
    %0 = const {value = i64[] 0}
    %1 = dims {values = [3*B], scalar}
    %2 = const {value = i64[] 3}
    %3 = range %0, %1, %2 : i64[B]
    %4 = bag @t, %ids, %3, %w {operands = [5], pool = [sum], negative = error}
    %5 = slice %off {starts = [0], sizes = [max(0, C - 1)]}
    %6 = slice %off {starts = [min(C, 1)], sizes = [max(0, C - 1)]}
    %7 = bag @t, %more, %5, %6 {operands = [3], pool = [mean], offsets = slice}
    %8 = bag @t, %more, %3 {operands = [1], pool = [sum]}
    ret %4, %7, %8
  }
}
# expect:
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[3*B], %more: i64[N], %off: i64[C], %w: f32[3*B]) -> (f32[B, 4], f32[C - 1, 4], f32[B, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = dims {values = [3*B], scalar} : i64[]
    %2 = const {value = 3} : i64[]
    %3 = range %0, %1, %2 : i64[B]
    %4 = reshape %ids {to = [B, 3]} : i64[B, 3]
    %5 = reshape %w {to = [B, 3]} : f32[B, 3]
    %6 = bag @t, %4, %5 {operands = [4], pool = [sum], negative = error} : f32[B, 4]
    guard le(1, C) "the offsets must hold the last bag's end"
    %7 = bag @t, %more, %off {operands = [1], pool = [mean], last = [offset], offsets = slice} : f32[C - 1, 4]
    %8 = bag @t, %more, %3 {operands = [1], pool = [sum]} : f32[B, 4]
    ret %6, %7, %8
  }
}
