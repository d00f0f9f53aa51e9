# bufferise: scatters go to the argument behind commit, and change its part alone; their
# indices are made into rows before. Who reads the argument reads it before, too.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%t: f32[V, 4], %i: i32[B, 4], %u: f32[B, 4], %j: i64[C, 2], %z: f32[C]) -> (f32[V, 4] "next", f32[B, 4] "old") {
    %0 = gather_elements %t, %i {axis = 0} : f32[B, 4]
    %1 = mul %0, %u : f32[B, 4]
    %2 = scatter_elements %t, %i, %1 {axis = -2, reduce = add} : f32[V, 4]
    %3 = scatter_nd %2, %j, %z {negative = error} : f32[V, 4]
    ret %3, %0 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %t: f32[V, 4],
      %i: i32[B, 4],
      %u: f32[B, 4],
      %j: i64[C, 2],
      %z: f32[C]) -> (f32[V, 4] "next", &f32[B, 4] "old") {
    %0 = alloc : &f32[B, 4]
    compute %t, %i, %0 {family = "gather", outs = 1} (%1: f32[V, 4], %2: i32[B, 4]) {
      %3 = gather_elements %1, %2 {axis = 0} : f32[B, 4]
      yield %3
    }
    %4 = alloc : &f32[B, 4]
    compute %0, %u, %4 {family = "map", outs = 1} (%5: f32[B, 4], %6: f32[B, 4]) {
      %7 = mul %5, %6 : f32[B, 4]
      yield %7
    }
    %8 = alloc : &i64[B, 4]
    compute %i, %8 {family = "scatter", outs = 1} (%9: i32[B, 4]) {
      %10 = check_index %9 {extents = [V]} : i64[B, 4]
      yield %10
    }
    %11 = alloc : &i64[C, 2]
    compute %j, %11 {family = "scatter", outs = 1} (%12: i64[C, 2]) {
      %13 = check_index %12 {extents = [V, 4], negative = error} : i64[C, 2]
      yield %13
    }
    commit
    compute %t, %8, %4, %t {family = "scatter", outs = 1} (%14: f32[V, 4], %15: i64[B, 4], %16: f32[B, 4]) {
      %17 = scatter_elements %14, %15, %16 {axis = -2, reduce = add, in_place, is_checked} : f32[V, 4]
      yield %17
    }
    compute %t, %11, %z, %t {family = "scatter", outs = 1} (%18: f32[V, 4], %19: i64[C, 2], %20: f32[C]) {
      %21 = scatter_nd %18, %19, %20 {negative = error, in_place, is_checked} : f32[V, 4]
      yield %21
    }
    ret %t, %0 {in_place = [0, -1]}
  }
}
