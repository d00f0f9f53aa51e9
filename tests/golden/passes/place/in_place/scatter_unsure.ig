# bufferise: a scatter whose updates are the argument itself, and one that others read, are
# computed into a buffer of their own and copied behind commit.
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
    %5 = alloc : &f32[4]
    compute %s, %i, %u, %5 {family = "scatter", outs = 1} (%6: f32[4], %7: i64[4], %8: f32[4]) {
      %9 = scatter_elements %6, %7, %8 {axis = 0} : f32[4]
      yield %9
    }
    %10 = alloc : &f32[4]
    compute %5, %10 {family = "map", outs = 1} (%11: f32[4]) {
      %12 = exp %11 : f32[4]
      yield %12
    }
    commit
    compute %0, %t {family = "copy", outs = 1} (%13: f32[4]) {
      yield %13
    }
    compute %5, %s {family = "copy", outs = 1} (%14: f32[4]) {
      yield %14
    }
    ret %t, %s, %10 {in_place = [0, 2, -1]}
  }
}
