# fold_flow: an op that defines a symbol stays while a guard mentions the symbol.
# run: fold_flow,dce
module @m {
  weight @w : f16[1, 1] = splat(1)
  graph @main(%x: f32[B]) -> (i64[nonzero, 2], f32[B]) {
    %0 = nonzero @w : i64[nonzero, 2]
    guard eq(2, bcast(nonzero, 2)) "the shapes broadcast"
    %1 = const {value = 2} : i64[]
    %2 = const {value = true} : bool[]
    %3 = loop %1, %2, %0 : i64[nonzero, 2] (%i: i64[], %k: bool[], %c: i64[nonzero, 2]) {
      %4 = add %c, %c : i64[nonzero, 2]
      yield %k, %4
    }
    ret %3, %x
  }
}
# expect:
module @m {
  weight @w : f16[1, 1] = splat(1)
  graph @main(%x: f32[B]) -> (i64[1, 2], f32[B]) {
    %0 = nonzero @w : i64[nonzero, 2]
    guard eq(2, bcast(nonzero, 2)) "the shapes broadcast"
    %1 = const {value = [0, 0]} : i64[1, 2]
    ret %1, %x
  }
}
