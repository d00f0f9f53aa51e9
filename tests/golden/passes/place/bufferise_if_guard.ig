# bufferise: a branch that only guards something has no results, and becomes one step.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[3, B], %c: bool[]) -> (f32[3, B] "y") {
    if %c {
      yield
    } else {
      guard le(2, B) "x must be wide"
      yield
    }
    %0 = exp %x : f32[3, B]
    ret %0
  }
}
# expect:
module @m {
  plan @main(%x: f32[3, B], %c: bool[]) -> (&f32[3, B] "y") {
    if %c {
      yield
    } else {
      guard le(2, B) "x must be wide"
      yield
    }
    %0 = alloc : &f32[3, B]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[3, B]) {
      %2 = exp %1 : f32[3, B]
      yield %2
    }
    ret %0
  }
}
