module @boxes {
  graph @main(
      %x: f32[B, N, 4],
      %y: f32[B, C, N],
      %s: f32[],
      %m: i64[],
      %l: f32[]) -> (i64[B, C, N], i64[B, C]) {
    %0, %1 = suppress %x, %y, %s, %m : i64[B, C, N], i64[B, C]
    %2, %3 = suppress %x, %y, %s, %m, %l : i64[B, C, N], i64[B, C]
    ret %0, %3
  }
}
