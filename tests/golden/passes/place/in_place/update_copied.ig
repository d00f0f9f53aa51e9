# bufferise: a table that something else needs too is copied first, and changed in the copy.
# So it is where not all of an op is in place.
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
    ret %4, %5, %1 {in_place = [0, -1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %w: f32[9, 4],
      %s: f32[9, 1],
      %ids: i64[N],
      %dy: f32[N, 4],
      %k: f32[]) -> (f32[9, 4] "w", &f32[9, 1] "s", &f32[N, 4] "y") {
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
    %9 = alloc : &f32[9, 4]
    %10 = alloc : &f32[9, 1]
    compute %w, %9 {family = "copy", outs = 1} (%11: f32[9, 4]) {
      yield %11
    }
    compute %s, %10 {family = "copy", outs = 1} (%12: f32[9, 1]) {
      yield %12
    }
    compute %9, %10, %4, %5, %0, %k, %9, %10 {family = "bag_update", outs = 2} (%13: f32[9, 4], %14: f32[9, 1], %15: i64[N], %16: i64[N], %17: f32[N, 4], %18: f32[]) {
      %19 = const {value = 2} : f32[]
      %20, %21 = bag_update %13, %14, %15, %16, %17, %18 {tables = 1, states = 1} : f32[9, 4], f32[9, 1] (%22: f32[1, 4], %23: f32[1, 4], %24: f32[1, 1], %25: f32[]) {
        %26 = mul %23, %19 : f32[1, 4]
        %27 = mul %26, %25 : f32[1, 4]
        %28 = sub %22, %27 : f32[1, 4]
        yield %28, %24
      }
      yield %20, %21
    }
    commit
    compute %9, %w {family = "copy", outs = 1} (%29: f32[9, 4]) {
      yield %29
    }
    ret %w, %10, %0 {in_place = [0, -1, -1]}
  }
}
