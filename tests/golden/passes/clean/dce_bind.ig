# dce: a bind goes, and what computes its number, when nothing mentions the symbol.
# run: dce
module @m {
  graph @main(%x: f32[N], %s: i64[3]) -> (f32[min(N, n)]) {
    %0 = slice %s {starts = [0], sizes = [1]} : i64[1]
    bind %0 {symbols = [n]}
    %1 = slice %s {starts = [1], sizes = [1]} : i64[1]
    bind %1 {symbols = [k]}
    %2 = slice %s {starts = [2], sizes = [1]} : i64[1]
    bind %2 {symbols = [m]}
    %3 = slice %x {starts = [0], sizes = [min(N, m)]} : f32[min(N, m)]
    %4 = slice %x {starts = [0], sizes = [min(N, n)]} : f32[min(N, n)]
    ret %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %s: i64[3]) -> (f32[min(N, n)]) {
    %0 = slice %s {starts = [0], sizes = [1]} : i64[1]
    bind %0 {symbols = [n]}
    %1 = slice %x {starts = [0], sizes = [min(N, n)]} : f32[min(N, n)]
    ret %1
  }
}
