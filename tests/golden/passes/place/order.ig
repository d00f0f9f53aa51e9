# ---- order ----
# order: what waits for nothing comes first; each wave keeps its order.
# run: fuse,bufferise,order
# then: lower
module @m {
  graph @main(%x: f32[B], %y: f32[B]) -> (f32[B] "o") {
    %0 = exp %x : f32[B]
    %1 = reduce %0 {op = sum} : f32[]
    %2 = log %y : f32[B]
    %3 = reduce %2 {op = max} : f32[]
    %4 = add %1, %3 : f32[]
    %5 = mul %y, %4 : f32[B]
    ret %5
  }
}
# expect:
module @m {
  plan @main(%x: f32[B], %y: f32[B]) -> (&f32[B] "o") {
    %0 = alloc : &f32[B]
    %1 = alloc : &f32
    %2 = alloc : &f32[B]
    %3 = alloc : &f32
    %4 = alloc : &f32
    %5 = alloc : &f32[B]
    compute %x, %0 {family = "map", outs = 1} (%6: f32[B]) {
      %7 = exp %6 : f32[B]
      yield %7
    }
    compute %y, %2 {family = "map", outs = 1} (%8: f32[B]) {
      %9 = log %8 : f32[B]
      yield %9
    }
    compute %0, %1 {family = "reduce", outs = 1} (%10: f32[B]) {
      %11 = reduce %10 {op = sum} : f32[]
      yield %11
    }
    compute %2, %3 {family = "reduce", outs = 1} (%12: f32[B]) {
      %13 = reduce %12 {op = max} : f32[]
      yield %13
    }
    compute %1, %3, %4 {family = "map", outs = 1} (%14: f32[], %15: f32[]) {
      %16 = add %14, %15 : f32[]
      yield %16
    }
    compute %y, %4, %5 {family = "map", outs = 1} (%17: f32[B], %18: f32[]) {
      %19 = mul %17, %18 : f32[B]
      yield %19
    }
    ret %5
  }
}
# ---- order_readers ----
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
