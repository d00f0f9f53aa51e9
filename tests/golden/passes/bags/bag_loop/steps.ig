# bag_loop: bags of three ids from the second on; there may be more ids, not fewer.
# run: bag_loop,dce
# refuses: slices that are shorter at the end of the ids
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %w: f32[N], %x: f32[B]) -> (f32[B, 4]) {
    %count = dims {values = [B], scalar} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %three = const {value = [3]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[B, 4] (%i: i64[], %go: bool[]) {
      %1 = mul %i, %three : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = add %2, %three : i64[1]
      %4 = slice %ids, %2, %3 : i64[n]
      %5 = slice %w, %2, %3 : f32[m]
      %6 = reshape %5 {to = [m, 1]} : f32[m, 1]
      %7 = gather @table, %4 {axis = 0} : f32[n, 4]
      guard eq(n, m)
      %8 = mul %6, %7 : f32[n, 4]
      %9 = reduce %8 {op = sum, axes = [0]} : f32[4]
      yield %go, %9
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %w: f32[N], %x: f32[B]) -> (f32[B, 4]) {
    guard le(3*B + 1, N) "there must be ids for all bags"
    %0 = slice %ids {starts = [1], sizes = [3*B]} : i64[3*B]
    %1 = reshape %0 {to = [B, 3]} : i64[B, 3]
    %2 = slice %w {starts = [1], sizes = [3*B]} : f32[3*B]
    %3 = reshape %2 {to = [B, 3]} : f32[B, 3]
    %4 = bag @table, %1, %3 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %4
  }
}
