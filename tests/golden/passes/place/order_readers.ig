# order: who writes to a buffer waits for those who read what was in it before.
# run: order
module @m {
  plan @main(%x: f32[B]) -> (&f32[B] "a", &f32[B] "b") {
    %0 = alloc : &f32[B]
    %1 = alloc : &f32[B]
    %2 = alloc : &f32[B]
    %3 = alloc : &f32[B]
    %4 = alloc : &f32[B]
    compute %x, %0 {family = "map", outs = 1} (%5: f32[B]) {
      %6 = exp %5 : f32[B]
      yield %6
    }
    compute %x, %1 {family = "map", outs = 1} (%7: f32[B]) {
      %8 = log %7 : f32[B]
      yield %8
    }
    compute %1, %2 {family = "map", outs = 1} (%9: f32[B]) {
      %10 = sqrt %9 : f32[B]
      yield %10
    }
    compute %0, %2, %3 {family = "map", outs = 1} (%11: f32[B], %12: f32[B]) {
      %13 = add %11, %12 : f32[B]
      yield %13
    }
    compute %x, %0 {family = "map", outs = 1} (%14: f32[B]) {
      %15 = relu %14 : f32[B]
      yield %15
    }
    compute %0, %4 {family = "map", outs = 1} (%16: f32[B]) {
      %17 = neg %16 : f32[B]
      yield %17
    }
    ret %3, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B]) -> (&f32[B] "a", &f32[B] "b") {
    %0 = alloc : &f32[B]
    %1 = alloc : &f32[B]
    %2 = alloc : &f32[B]
    %3 = alloc : &f32[B]
    %4 = alloc : &f32[B]
    compute %x, %0 {family = "map", outs = 1} (%5: f32[B]) {
      %6 = exp %5 : f32[B]
      yield %6
    }
    compute %x, %1 {family = "map", outs = 1} (%7: f32[B]) {
      %8 = log %7 : f32[B]
      yield %8
    }
    compute %1, %2 {family = "map", outs = 1} (%9: f32[B]) {
      %10 = sqrt %9 : f32[B]
      yield %10
    }
    compute %0, %2, %3 {family = "map", outs = 1} (%11: f32[B], %12: f32[B]) {
      %13 = add %11, %12 : f32[B]
      yield %13
    }
    compute %x, %0 {family = "map", outs = 1} (%14: f32[B]) {
      %15 = relu %14 : f32[B]
      yield %15
    }
    compute %0, %4 {family = "map", outs = 1} (%16: f32[B]) {
      %17 = neg %16 : f32[B]
      yield %17
    }
    ret %3, %4
  }
}
