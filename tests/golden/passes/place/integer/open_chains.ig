# pack: chains of 16 bits are cut by a depth that the kernel knows, so that rows whose
# extent is open in their own type have none.
# not run: C is drawn and must be 8
# run: pack
# target: cpu:v3
module @m {
  weight @w : i8[8, 16] = splat(3)
  graph @main(%x: u8[B, 8], %y: u8[B, C]) -> (i32[B, 16], i32[B, 16]) {
    %0 = matmul_integer %x, @w : i32[B, 16]
    %1 = matmul_integer %y, @w : i32[B, 16]
    ret %0, %1
  }
}
# expect:
module @m {
  weight @w : i8[8, 16] = splat(3)
  weight @w.quads.t.less0 : i8[1, 2, 16, 4] = recipe(0)
  graph @main(%x: u8[B, 8], %y: u8[B, C]) -> (i32[B, 16], i32[B, 16]) {
    %0 = matmul_quads %x, @w.quads.t.less0 {columns = 16, chain = 2} : i32[B, 16]
    %1 = matmul_quads %y, @w.quads.t.less0 {columns = 16} : i32[B, 16]
    ret %0, %1
  }
  private graph @weights() -> (i8[1, 2, 16, 4]) {
    %0 = cast @w {to = i32} : i32[8, 16]
    %1 = transpose %0 {perm = [1, 0]} : i32[16, 8]
    %2 = const {value = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : i32[16]
    %3 = reshape %2 {to = [16, 1]} : i32[16, 1]
    %4 = sub %1, %3 : i32[16, 8]
    %5 = cast %4 {to = i8} : i8[16, 8]
    %6 = const {value = 0} : i8[]
    %7 = pad %5, %6 {before = [0, 0], after = [0, 0]} : i8[16, 8]
    %8 = reshape %7 {to = [1, 16, 2, 4]} : i8[1, 16, 2, 4]
    %9 = transpose %8 {perm = [0, 2, 1, 3]} : i8[1, 2, 16, 4]
    ret %9
  }
}
