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
