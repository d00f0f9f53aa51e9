# ---- one_bag ----
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
# ---- weighted ----
# bag_unrolled: four bags side by side, the last one open.
# run: bag_unrolled,guards,dce
# refuses: weights that only broadcasting makes as many as the ids
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[4], %weights: f32[N_2]) -> (f32[4, 4]) {
    %0 = const {value = [9223372036854775807]} : i64[1]
    %1 = slice %off {starts = [0], sizes = [1]} : i64[1]
    %2 = slice %off {starts = [1], sizes = [1]} : i64[1]
    %3 = const {value = [0]} : i64[1]
    %4 = slice %ids, %1, %2, %3 : i64[n]
    %5 = gather @table, %4 {axis = 0} : f32[n, 4]
    %6 = slice %weights, %1, %2, %3 : f32[n2]
    %7 = reshape %6 {to = [n2, 1]} : f32[n2, 1]
    guard eq(bcast(n, n2), bcast(n2, n))
    %8 = mul %5, %7 : f32[bcast(n, n2), 4]
    %9 = reduce %8 {op = sum, axes = [0]} : f32[4]
    %10 = reshape %9 {to = [1, 4]} : f32[1, 4]
    %11 = slice %off {starts = [2], sizes = [1]} : i64[1]
    %12 = slice %ids, %2, %11, %3 : i64[n3]
    %13 = gather @table, %12 {axis = 0} : f32[n3, 4]
    %14 = slice %weights, %2, %11, %3 : f32[n4]
    %15 = reshape %14 {to = [n4, 1]} : f32[n4, 1]
    guard eq(bcast(n3, n4), bcast(n4, n3))
    %16 = mul %13, %15 : f32[bcast(n3, n4), 4]
    %17 = reduce %16 {op = sum, axes = [0]} : f32[4]
    %18 = reshape %17 {to = [1, 4]} : f32[1, 4]
    %19 = slice %off {starts = [3], sizes = [1]} : i64[1]
    %20 = slice %ids, %11, %19, %3 : i64[n5]
    %21 = gather @table, %20 {axis = 0} : f32[n5, 4]
    %22 = slice %weights, %11, %19, %3 : f32[n6]
    %23 = reshape %22 {to = [n6, 1]} : f32[n6, 1]
    guard eq(bcast(n5, n6), bcast(n6, n5))
    %24 = mul %21, %23 : f32[bcast(n5, n6), 4]
    %25 = reduce %24 {op = sum, axes = [0]} : f32[4]
    %26 = reshape %25 {to = [1, 4]} : f32[1, 4]
    %27 = slice %ids, %19, %0, %3 : i64[n7]
    %28 = gather @table, %27 {axis = 0} : f32[n7, 4]
    %29 = slice %weights, %19, %0, %3 : f32[n8]
    %30 = reshape %29 {to = [n8, 1]} : f32[n8, 1]
    guard eq(bcast(n7, n8), bcast(n8, n7))
    %31 = mul %28, %30 : f32[bcast(n7, n8), 4]
    %32 = reduce %31 {op = sum, axes = [0]} : f32[4]
    %33 = reshape %32 {to = [1, 4]} : f32[1, 4]
    %34 = concat %10, %18, %26, %33 {axis = 0} : f32[4, 4]
    ret %34
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[4], %weights: f32[N_2]) -> (f32[4, 4]) {
    guard eq(N_2, N) "there must be one weight an id"
    %0 = bag @table, %ids, %off, %weights {operands = [5], pool = [sum], offsets = slice} : f32[4, 4]
    ret %0
  }
}
