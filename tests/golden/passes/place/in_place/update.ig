# bufferise: tables go to their arguments behind commit, where they are changed in the rows
# that occur; constants that a body shares with others are its own from fuse on.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%w: f32[9, 4], %s: f32[9, 1], %ids: i64[N], %dy: f32[N, 4], %k: f32[]) -> (f32[9, 4] "w", f32[9, 1] "s", f32[N, 4] "y") {
    %0 = const {value = f32[] 2}
    %1 = mul %dy, %0 : f32[N, 4]
    %2, %3 = bag_group %ids {rows = [9]} : i64[N], i64[N]
    %4, %5 = bag_update %w, %s, %2, %3, %1, %k {tables = 1, states = 1} (%6: f32[1, 4], %7: f32[1, 4], %8: f32[1, 1], %9: f32[]) {
      %10 = mul %7, %0 : f32[1, 4]
      %11 = mul %10, %9 : f32[1, 4]
      %12 = sub %6, %11 : f32[1, 4]
      yield %12, %8
    } : f32[9, 4], f32[9, 1]
    ret %4, %5, %1 {in_place = [0, 1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %w: f32[9, 4],
      %s: f32[9, 1],
      %ids: i64[N],
      %dy: f32[N, 4],
      %k: f32[]) -> (f32[9, 4] "w", f32[9, 1] "s", &f32[N, 4] "y") {
    %0 = alloc : &f32[N, 4]
    compute %dy, %0 {family = "map", outs = 1} (%1: f32[N, 4]) {
      %2 = const {value = 2} : f32[]
      %3 = mul %1, %2 : f32[N, 4]
      yield %3
    }
    %4 = alloc : &i64[N]
    %5 = alloc : &i64[N]
    compute %ids, %4, %5 {family = "bag_group", outs = 2} (%6: i64[N]) {
      %7, %8 = bag_group %6 {rows = [9]} : i64[N], i64[N]
      yield %7, %8
    }
    commit
    compute %w, %s, %4, %5, %0, %k, %w, %s {family = "bag_update", outs = 2} (%9: f32[9, 4], %10: f32[9, 1], %11: i64[N], %12: i64[N], %13: f32[N, 4], %14: f32[]) {
      %15 = const {value = 2} : f32[]
      %16, %17 = bag_update %9, %10, %11, %12, %13, %14 {tables = 1, states = 1} : f32[9, 4], f32[9, 1] (%18: f32[1, 4], %19: f32[1, 4], %20: f32[1, 1], %21: f32[]) {
        %22 = mul %19, %15 : f32[1, 4]
        %23 = mul %22, %21 : f32[1, 4]
        %24 = sub %18, %23 : f32[1, 4]
        yield %24, %20
      }
      yield %16, %17
    }
    ret %w, %s, %0 {in_place = [0, 1, -1]}
  }
}
