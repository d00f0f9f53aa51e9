# bufferise: a scatter whose updates are the argument itself is computed into a buffer of its
# own and copied behind commit; who reads another's new value stands there, too.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%t: f32[4], %i: i64[4], %s: f32[4], %u: f32[4]) -> (f32[4] "t1", f32[4] "s1", f32[4] "y") {
    %0 = scatter_elements %t, %i, %t {axis = 0} : f32[4]
    %1 = scatter_elements %s, %i, %u {axis = 0} : f32[4]
    %2 = exp %1 : f32[4]
    ret %0, %1, %2 {in_place = [0, 2, -1]}
  }
}
# expect:
module @m {
  plan @main(%t: f32[4], %i: i64[4], %s: f32[4], %u: f32[4]) -> (f32[4] "t1", f32[4] "s1", &f32[4] "y") {
    %0 = alloc : &f32[4]
    compute %t, %i, %t, %0 {family = "scatter", outs = 1} (%1: f32[4], %2: i64[4], %3: f32[4]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[4]
      yield %4
    }
    %5 = alloc : &i64[4]
    compute %i, %5 {family = "scatter", outs = 1} (%6: i64[4]) {
      %7 = check_index %6 {extents = [4]} : i64[4]
      yield %7
    }
    %8 = alloc : &f32[4]
    commit
    compute %s, %5, %u, %s {family = "scatter", outs = 1} (%9: f32[4], %10: i64[4], %11: f32[4]) {
      %12 = scatter_elements %9, %10, %11 {axis = 0, in_place, is_checked} : f32[4]
      yield %12
    }
    %13 = view %s {offset = 0, strides = [1]} : &f32[4]
    compute %13, %8 {family = "map", outs = 1} (%14: f32[4]) {
      %15 = exp %14 : f32[4]
      yield %15
    }
    compute %0, %t {family = "copy", outs = 1} (%16: f32[4]) {
      yield %16
    }
    ret %t, %s, %8 {in_place = [0, 2, -1]}
  }
}
