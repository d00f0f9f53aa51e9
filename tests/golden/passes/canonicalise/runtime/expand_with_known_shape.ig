# expand_with_known_shape: a shape that is known is an attribute; what the run would have checked is a guard.
# run: canonicalise
# not run: L is no extent of an input
module @m {
  graph @main(%x: f32[B, 1], %y: f32[N]) -> (f32[B, 7], f32[L, N], f32[bcast(N, M)]) {
    %0 = const {value = [1, 7]} : i64[2]
    %1 = expand %x, %0
    %2 = dims {values = [L, 1]}
    %3 = expand %y, %2
    %4 = dims {values = [M]}
    %5 = expand %y, %4 : f32[bcast(N, M)]
    ret %1, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 1], %y: f32[N]) -> (f32[B, 7], f32[L, N], f32[bcast(M, N)]) {
    %0 = expand %x {to = [1, 7]} : f32[B, 7]
    %1 = expand %y {to = [L, 1]} : f32[L, N]
    %2 = expand %y {to = [M]} : f32[bcast(M, N)]
    guard eq(bcast(N, M), bcast(M, N)) "extents do not broadcast"
    ret %0, %1, %2
  }
}
