module @shape {
  graph @main(%x: f32[B, 4, 6], %n: i64[2], %v: f32[]) -> (i64[3], i64[], f32[B, 24]) {
    %0 = shape %x
    %1 = size %x
    %2 = reshape %x {to = [B, 24]}
    %3 = reshape %x, %n : f32[P, Q]
    %4 = transpose %x {perm = [0, 2, 1]}
    %5 = expand %v {to = [B, 6, 4]}
    %6 = add %4, %5
    %7 = slice %6 {starts = [0, 0, 0], sizes = [B, 2, 4], steps = [1, 2, 1]}
    %8 = slice %6 {starts = [0, 0, 0], sizes = [B, 4, 4]}
    %9 = concat %7, %8 {axis = 1}
    %10 = pad %9 {before = [0, 1, 0], after = [0, 1, 0], mode = reflect}
    %11 = pad %9, %v {before = [0, 0, 0], after = [0, 0, 1]}
    %12 = const {value = 0} : i64[]
    %13 = const {value = 1} : i64[]
    %14 = range %12, %1, %13 : i64[R]
    %15 = const {value = [1, 2, 1]} : i64[3]
    %16 = tile %x, %15
    ret %0, %1, %2
  }
}
