# prepare: what the graph returns, and what an argument of each call goes into, stays.
# run: fuse,bufferise,order,tile_rows,prepare
# then: lower
module @m {
  graph @main(%x: f32[4], %b: f32[4] {opened}) -> (f32[4], f32[4], f32[4]) {
    %0 = exp %b : f32[4]
    %1 = reduce %b {op = sum, axes = [0], keep = true} : f32[1]
    %2 = reduce %x {op = sum, axes = [0], keep = true} : f32[1]
    %3 = sub %x, %1 : f32[4]
    %4 = sub %b, %2 : f32[4]
    ret %0, %3, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[4], %b: f32[4] {opened}) -> (&f32[4], &f32[4], &f32[4]) {
    %0 = alloc : &f32[1]
    prepare {
      compute %b, %0 {family = "reduce", outs = 1} (%1: f32[4]) {
        %2 = reduce %1 {op = sum, axes = [0], keep} : f32[1]
        yield %2
      }
      yield
    }
    %3 = alloc : &f32[4]
    %4 = alloc : &f32[1]
    %5 = alloc : &f32[4]
    %6 = alloc : &f32[4]
    compute %b, %3 {family = "map", outs = 1} (%7: f32[4]) {
      %8 = exp %7 : f32[4]
      yield %8
    }
    compute %x, %4 {family = "reduce", outs = 1} (%9: f32[4]) {
      %10 = reduce %9 {op = sum, axes = [0], keep} : f32[1]
      yield %10
    }
    compute %x, %0, %5 {family = "map", outs = 1} (%11: f32[4], %12: f32[1]) {
      %13 = sub %11, %12 : f32[4]
      yield %13
    }
    compute %b, %4, %6 {family = "map", outs = 1} (%14: f32[4], %15: f32[1]) {
      %16 = sub %14, %15 : f32[4]
      yield %16
    }
    ret %3, %5, %6
  }
}
