# fuse: a region that one other alone uses joins it, in however many places; one of another shape, or that two use, does not.
# run: fuse
module @m {
  graph @main(%0: f32[B], %1: f32[B], %s: f32[]) -> (f32[B], f32[B], f32[B]) {
    %2 = abs %0
    %3 = neg %1
    %4 = add %2, %3
    %5 = mul %4, %2
    %6 = sub %5, %3
    %7 = abs %s
    %8 = mul %6, %7
    %9 = exp %0
    %10 = add %9, %1
    %11 = mul %9, %1
    %12 = neg %10
    ret %8, %12, %11
  }
}
# expect:
module @m {
  graph @main(%0: f32[B], %1: f32[B], %s: f32[]) -> (f32[B], f32[B], f32[B]) {
    %2 = fused %s {family = "map"} : f32[] (%3: f32[]) {
      %4 = abs %3 : f32[]
      yield %4
    }
    %5 = fused %1, %0, %2 {family = "map"} : f32[B] (%6: f32[B], %7: f32[B], %8: f32[]) {
      %9 = neg %6 : f32[B]
      %10 = abs %7 : f32[B]
      %11 = add %10, %9 : f32[B]
      %12 = mul %11, %10 : f32[B]
      %13 = sub %12, %9 : f32[B]
      %14 = mul %13, %8 : f32[B]
      yield %14
    }
    %15 = fused %0 {family = "map"} : f32[B] (%16: f32[B]) {
      %17 = exp %16 : f32[B]
      yield %17
    }
    %18 = fused %15, %1 {family = "map"} : f32[B] (%19: f32[B], %20: f32[B]) {
      %21 = mul %19, %20 : f32[B]
      yield %21
    }
    %22 = fused %15, %1 {family = "map"} : f32[B] (%23: f32[B], %24: f32[B]) {
      %25 = add %23, %24 : f32[B]
      %26 = neg %25 : f32[B]
      yield %26
    }
    ret %5, %22, %18
  }
}
