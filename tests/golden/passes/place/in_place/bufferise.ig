# bufferise: elementwise results and inserts go to the argument behind commit; a result that
# others read, or that is another argument, is computed first and copied there.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4], %b: f32[4], %w: f32[4], %m: f32[4], %g: f32[4], %c: f32[8, 4], %r: f32[2, 4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "w1", f32[4] "m1", f32[8, 4] "c1", f32[4] "old") {
    %0 = mul %m, %g : f32[4]
    %1 = sub %w, %0 : f32[4]
    %2 = insert %c, %r {starts = [2, 0]} : f32[8, 4]
    ret %b, %a, %1, %0, %2, %w {in_place = [0, 1, 2, 3, 5, -1]}
  }
}
# expect:
module @m {
  plan @main(
      %a: f32[4],
      %b: f32[4],
      %w: f32[4],
      %m: f32[4],
      %g: f32[4],
      %c: f32[8, 4],
      %r: f32[2, 4]) -> (f32[4] "a1", f32[4] "b1", f32[4] "w1", f32[4] "m1", f32[8, 4] "c1", &f32[4] "old") {
    %0 = alloc : &f32[4]
    compute %m, %g, %0 {family = "map", outs = 1} (%1: f32[4], %2: f32[4]) {
      %3 = mul %1, %2 : f32[4]
      yield %3
    }
    %4 = view %c {offset = 8, strides = [4, 1]} : &f32[2, 4]
    %5 = alloc : &f32[4]
    compute %w, %5 {family = "copy", outs = 1} (%6: f32[4]) {
      yield %6
    }
    %7 = alloc : &f32[4]
    compute %b, %7 {family = "copy", outs = 1} (%8: f32[4]) {
      yield %8
    }
    %9 = alloc : &f32[4]
    compute %a, %9 {family = "copy", outs = 1} (%10: f32[4]) {
      yield %10
    }
    commit
    compute %w, %0, %w {family = "map", outs = 1} (%11: f32[4], %12: f32[4]) {
      %13 = sub %11, %12 : f32[4]
      yield %13
    }
    compute %r, %4 {family = "copy", outs = 1} (%14: f32[2, 4]) {
      yield %14
    }
    compute %7, %a {family = "copy", outs = 1} (%15: f32[4]) {
      yield %15
    }
    compute %9, %b {family = "copy", outs = 1} (%16: f32[4]) {
      yield %16
    }
    compute %0, %m {family = "copy", outs = 1} (%17: f32[4]) {
      yield %17
    }
    ret %a, %b, %w, %m, %c, %5 {in_place = [0, 1, 2, 3, 5, -1]}
  }
}
