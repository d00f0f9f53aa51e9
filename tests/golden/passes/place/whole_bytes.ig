# whole_bytes: integers of 4 bits are bytes between what the caller gives and gets.
# run: whole_bytes,dce
# target: cpu:v3
module @m {
  graph @main(%x: i4[A, 5], %y: f32[A], %z: u8[A]) -> (i4[5, A], i4[A], u2[A]) {
    %0 = transpose %x {perm = [1, 0]} : i4[5, A]
    %1 = cast %y {to = i4} : i4[A]
    %2 = cast %z {to = u2} : u2[A]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: i4[A, 5], %y: f32[A], %z: u8[A]) -> (i4[5, A], i4[A], u2[A]) {
    %0 = cast %x {to = i8} : i8[A, 5]
    %1 = transpose %0 {perm = [1, 0]} : i8[5, A]
    %2 = cast %y {to = i8} : i8[A]
    %3 = const {value = 7} : i8[]
    %4 = min %2, %3 : i8[A]
    %5 = const {value = -8} : i8[]
    %6 = max %4, %5 : i8[A]
    %7 = const {value = 6} : u8[]
    %8 = shl %z, %7 : u8[A]
    %9 = const {value = 6} : u8[]
    %10 = shr %8, %9 : u8[A]
    %11 = cast %1 {to = i4} : i4[5, A]
    %12 = cast %6 {to = i4} : i4[A]
    %13 = cast %10 {to = u2} : u2[A]
    ret %11, %12, %13
  }
}
