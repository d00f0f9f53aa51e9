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
