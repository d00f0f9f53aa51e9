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
