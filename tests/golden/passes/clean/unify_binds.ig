# unify: an extent that is a multiple is known to be one; of two binds of one value the first is left.
# run: unify
module @m {
  graph @main(%x: f32[L], %s: i64[1]) -> (f32[min(L, n)], f32[min(L, n2)], f32[floor(L / 6)]) {
    guard eq(L, 2*floor(L / 2)) "pairs"
    guard eq(12*floor(L / 3), 4*L) "of three"
    bind %s {symbols = [n]}
    bind %s {symbols = [n2]}
    %0 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %1 = slice %x {starts = [0], sizes = [min(L, n2)]} : f32[min(L, n2)]
    %2 = slice %x {starts = [0], sizes = [floor(L / 6)]} : f32[floor(L / 6)]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  symbol L {multiple = 6}
  graph @main(%x: f32[L], %s: i64[1]) -> (f32[min(L, n)], f32[min(L, n)], f32[exact(L / 6)]) {
    bind %s {symbols = [n]}
    %0 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %1 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %2 = slice %x {starts = [0], sizes = [exact(L / 6)]} : f32[exact(L / 6)]
    ret %0, %1, %2
  }
}
