# bag_unrolled: a reduction that stands alone is one bag.
# run: bag_unrolled,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[2]) -> (f32[1, 4]) {
    %0 = slice %off {starts = [0], sizes = [1]} : i64[1]
    %1 = slice %off {starts = [1], sizes = [1]} : i64[1]
    %2 = const {value = [0]} : i64[1]
    %3 = slice %ids, %0, %1, %2 : i64[n]
    %4 = gather @table, %3 {axis = 0} : f32[n, 4]
    %5 = reduce %4 {op = mean, axes = [0]} : f32[4]
    %6 = reshape %5 {to = [1, 4]} : f32[1, 4]
    ret %6
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[2]) -> (f32[1, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [mean], last = [offset], empty = [nan], offsets = slice} : f32[1, 4]
    %1 = reshape %0 {to = [4]} : f32[4]
    %2 = reshape %1 {to = [1, 4]} : f32[1, 4]
    ret %2
  }
}
