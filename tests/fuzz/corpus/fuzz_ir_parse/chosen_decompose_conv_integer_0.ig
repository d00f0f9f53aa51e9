module @m {
  graph @main(%x: u8[N, 3, 8, 8], %w: i8[4, 3, 1, 1], %y: i8[N, 300, 8, 8], %v: i8[4, 300, 1, 1], %z: u8[]) -> (i32[N, 4, 8, 8], i32[N, 4, 8, 8]) {
    %0 = conv_integer %x, %w, %z : i32[N, 4, 8, 8]
    %1 = conv_integer %y, %v {group = 1} : i32[N, 4, 8, 8]
    ret %0, %1
  }
}
