# jagged_insert: what was written is read back; a part behind it is read where it was; one that may overlap stays.
# run: jagged_insert,dce
# not run: n is no extent of an input
module @m {
  symbol L {multiple = 3}
  graph @main(%ids: i64[N], %lengths: i64[L], %a: i64[min(N, n)], %any: i64[2]) -> (i64[min(N, n)], i64[max(0, min(N, n3) - min(N, n2))], i64[2]) {
    %0 = reshape %lengths {to = [3, exact(L / 3)]}
    %1 = reduce %0 {op = sum, axes = [1]}
    %2 = slice %1 {starts = [0], sizes = [1]}
    %3 = slice %1 {starts = [1], sizes = [1]}
    %4 = slice %1 {starts = [2], sizes = [1]}
    %5 = add %2, %3
    %6 = add %5, %4
    bind %2 {symbols = [n]}
    bind %5 {symbols = [n2]}
    bind %6 {symbols = [n3]}
    %7 = insert %ids, %a {starts = [0]} : i64[N]
    %8 = slice %7 {starts = [0], sizes = [min(N, n)]}
    %9 = slice %7 {starts = [min(N, n2)], sizes = [max(0, min(N, n3) - min(N, n2))]}
    %10 = slice %7 {starts = [1], sizes = [2]}
    ret %8, %9, %10
  }
}
# expect:
module @m {
  symbol L {multiple = 3}
  graph @main(%ids: i64[N], %lengths: i64[L], %a: i64[min(N, n)], %any: i64[2]) -> (i64[min(N, n)], i64[max(0, -min(N, n2) + min(N, n3))], i64[2]) {
    %0 = reshape %lengths {to = [3, exact(L / 3)]} : i64[3, exact(L / 3)]
    %1 = reduce %0 {op = sum, axes = [1]} : i64[3]
    %2 = slice %1 {starts = [0], sizes = [1]} : i64[1]
    %3 = slice %1 {starts = [1], sizes = [1]} : i64[1]
    %4 = slice %1 {starts = [2], sizes = [1]} : i64[1]
    %5 = add %2, %3 : i64[1]
    %6 = add %5, %4 : i64[1]
    bind %5 {symbols = [n2]}
    bind %6 {symbols = [n3]}
    %7 = insert %ids, %a {starts = [0]} : i64[N]
    %8 = slice %ids {starts = [min(N, n2)], sizes = [max(0, -min(N, n2) + min(N, n3))]} : i64[max(0, -min(N, n2) + min(N, n3))]
    %9 = slice %7 {starts = [1], sizes = [2]} : i64[2]
    ret %a, %8, %9
  }
}
