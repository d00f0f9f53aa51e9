# bag_loop: of two stacked results one is a bag; the loop stays for the other one.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[3]) -> (f32[2, 4], i64[2]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %0, %1 = loop %count, %true {scans = 2} : f32[2, 4], i64[2] (%i: i64[], %go: bool[]) {
      %2 = add %i, %one : i64[]
      %3 = gather %off, %i {axis = 0} : i64[]
      %4 = gather %off, %2 {axis = 0} : i64[]
      %5 = reshape %3 {to = [1]} : i64[1]
      %6 = reshape %4 {to = [1]} : i64[1]
      %7 = slice %ids, %5, %6 : i64[n]
      %8 = gather @table, %7 {axis = 0} : f32[n, 4]
      %9 = reduce %8 {op = max, axes = [0]} : f32[4]
      %10 = sub %4, %3 : i64[]
      yield %go, %9, %10
    }
    ret %0, %1
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[3]) -> (f32[2, 4], i64[2]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = 1} : i64[]
    %3 = bag @table, %ids, %off {operands = [1], pool = [max], last = [offset], empty = [neg_inf], offsets = slice} : f32[2, 4]
    %4, %5 = loop %0, %1 {scans = 2} : f32[2, 4], i64[2] (%i: i64[], %go: bool[]) {
      %6 = add %i, %2 : i64[]
      %7 = gather %off, %i {axis = 0} : i64[]
      %8 = gather %off, %6 {axis = 0} : i64[]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = reshape %8 {to = [1]} : i64[1]
      %11 = slice %ids, %9, %10 : i64[n]
      %12 = gather @table, %11 {axis = 0} : f32[n, 4]
      %13 = reduce %12 {op = max, axes = [0]} : f32[4]
      %14 = sub %8, %7 : i64[]
      yield %go, %13, %14
    }
    ret %3, %5
  }
}
