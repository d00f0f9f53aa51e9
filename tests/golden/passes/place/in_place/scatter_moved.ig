# bufferise: what writes an argument reads behind commit, so a scatter that the text has
# behind it does not change what it reads.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4], %b: f32[4], %i: i64[2], %u: f32[2], %x: f32[4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "y", f32[4] "z") {
    %0 = exp %x : f32[4]
    %1 = add %a, %0 : f32[4]
    %2 = scatter_elements %0, %i, %u {axis = 0} : f32[4]
    %3 = sin %x : f32[4]
    %4 = slice %3 {starts = [1], sizes = [2]} : f32[2]
    %5 = scatter_elements %b, %i, %4 {axis = 0} : f32[4]
    %6 = scatter_elements %3, %i, %u {axis = 0} : f32[4]
    ret %1, %5, %2, %6 {in_place = [0, 1, -1, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %a: f32[4],
      %b: f32[4],
      %i: i64[2],
      %u: f32[2],
      %x: f32[4]) -> (f32[4] "a1", f32[4] "b1", &f32[4] "y", &f32[4] "z") {
    %0 = alloc : &f32[4]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[4]) {
      %2 = exp %1 : f32[4]
      yield %2
    }
    %3 = alloc : &f32[4]
    compute %0, %i, %u, %3 {family = "scatter", outs = 1} (%4: f32[4], %5: i64[2], %6: f32[2]) {
      %7 = scatter_elements %4, %5, %6 {axis = 0} : f32[4]
      yield %7
    }
    %8 = alloc : &f32[4]
    compute %x, %8 {family = "map", outs = 1} (%9: f32[4]) {
      %10 = sin %9 : f32[4]
      yield %10
    }
    %11 = view %8 {offset = 1, strides = [1]} : &f32[2]
    %12 = alloc : &i64[2]
    compute %i, %12 {family = "scatter", outs = 1} (%13: i64[2]) {
      %14 = check_index %13 {extents = [4]} : i64[2]
      yield %14
    }
    %15 = alloc : &f32[4]
    compute %8, %i, %u, %15 {family = "scatter", outs = 1} (%16: f32[4], %17: i64[2], %18: f32[2]) {
      %19 = scatter_elements %16, %17, %18 {axis = 0} : f32[4]
      yield %19
    }
    commit
    compute %a, %0, %a {family = "map", outs = 1} (%20: f32[4], %21: f32[4]) {
      %22 = add %20, %21 : f32[4]
      yield %22
    }
    compute %b, %12, %11, %b {family = "scatter", outs = 1} (%23: f32[4], %24: i64[2], %25: f32[2]) {
      %26 = scatter_elements %23, %24, %25 {axis = 0, in_place, is_checked} : f32[4]
      yield %26
    }
    ret %a, %b, %3, %15 {in_place = [0, 1, -1, -1]}
  }
}
