# bag_loop: ends that are no shifted copy of the begins.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %begins: i64[B], %ends: i64[B]) -> (f32[B, 1, 4]) {
    %count = dims {values = [B], scalar} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %0 = loop %count, %true {scans = 1} : f32[B, 1, 4] (%i: i64[], %go: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = slice %begins, %1, %2 : i64[n1]
      %4 = slice %ends, %1, %2 : i64[n2]
      %5 = slice %ids, %3, %4 : i64[n3]
      %6 = gather @table, %5 {axis = 0} : f32[n3, 4]
      %7 = reduce %6 {op = sum, axes = [-2], keep} : f32[1, 4]
      yield %go, %7
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %begins: i64[B], %ends: i64[B]) -> (f32[B, 1, 4]) {
    %0 = bag @table, %ids, %begins, %ends {operands = [3], pool = [sum], offsets = slice} : f32[B, 4]
    %1 = reshape %0 {to = [B, 1, 4]} : f32[B, 1, 4]
    ret %1
  }
}
