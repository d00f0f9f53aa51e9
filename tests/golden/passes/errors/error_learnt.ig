# canonicalise: what is learnt of a symbol breaks the guard that an op before it relied on.
# run: canonicalise
module @m {
  graph @main(%x: f32[2, 3]) -> (f32[6]) {
    %0 = dims {values = [2, 3]} : i64[2]
    %1 = expand %x, %0 : f32[n, 3]
    guard eq(3*n, 9) "the tensor has not as many elements as its new shape"
    %2 = reshape %1 {to = [9]} : f32[9]
    %3 = slice %2 {starts = [0], sizes = [6]} : f32[6]
    ret %3
  }
}
# expect-error: the tensor has not as many elements as its new shape: 6 = 9 never holds
