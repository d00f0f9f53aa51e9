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
