# bufferise: a result that is its argument is not written.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4]) -> (f32[4], f32[4]) {
    %0 = neg %a : f32[4]
    ret %a, %0 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[4]) -> (f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    compute %a, %0 {family = "map", outs = 1} (%1: f32[4]) {
      %2 = neg %1 : f32[4]
      yield %2
    }
    commit
    ret %a, %0 {in_place = [0, -1]}
  }
}
