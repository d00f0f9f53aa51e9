module @m {
  weight @w : i8[2, 4, 16, 4] = splat(100)
  graph @main(%x: u8[B, 16]) -> (i32[B, 20]) {
    %0, %1 = chain_quads @w {chain = 2, extra = 4} : i8[2, 8, 16, 4], i32[2, 5]
    %2 = matmul_quads %x, %0, %1 {columns = 20, chain = 2} : i32[B, 20]
    ret %2
  }
}
