# bufferise: a division of integers may be by 0, which is found before commit.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: i32[4], %b: i32[4], %c: f32[4], %d: f32[4]) -> (i32[4], f32[4]) {
    %0 = div %a, %b : i32[4]
    %1 = div %c, %d : f32[4]
    ret %0, %1 {in_place = [0, 2]}
  }
}
# expect:
module @m {
  plan @main(%a: i32[4], %b: i32[4], %c: f32[4], %d: f32[4]) -> (i32[4], f32[4]) {
    %0 = alloc : &i32[4]
    compute %a, %b, %0 {family = "map", outs = 1} (%1: i32[4], %2: i32[4]) {
      %3 = div %1, %2 : i32[4]
      yield %3
    }
    commit
    compute %c, %d, %c {family = "map", outs = 1} (%4: f32[4], %5: f32[4]) {
      %6 = div %4, %5 : f32[4]
      yield %6
    }
    compute %0, %a {family = "copy", outs = 1} (%7: i32[4]) {
      yield %7
    }
    ret %a, %c {in_place = [0, 2]}
  }
}
