# bufferise: a scatter stands where its first operand was computed, when who else reads that
# comes before; x that is read later, or is the scatter's own update, is copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[4, 2], %i: i64[3, 2], %u: f32[3, 2], %j: i64[4, 2]) -> (f32[4, 2], f32[2], f32[8], f32[4, 2]) {
    %0 = exp %x : f32[4, 2]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[2]
    %2 = scatter_elements %0, %i, %u {axis = 0} : f32[4, 2]
    %3 = scatter_elements %2, %i, %u {axis = 0, reduce = add} : f32[4, 2]
    %4 = sin %x : f32[4, 2]
    %5 = scatter_elements %4, %j, %4 {axis = 0} : f32[4, 2]
    %6 = reshape %5 {to = [8]} : f32[8]
    %7 = cos %x : f32[4, 2]
    %8 = scatter_elements %7, %i, %u {axis = 0} : f32[4, 2]
    %9 = add %7, %8 : f32[4, 2]
    ret %3, %1, %6, %9
  }
}
# expect:
module @m {
  plan @main(%x: f32[4, 2], %i: i64[3, 2], %u: f32[3, 2], %j: i64[4, 2]) -> (&f32[4, 2], &f32[2], &f32[8], &f32[4, 2]) {
    %0 = alloc : &f32[4, 2]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[4, 2]) {
      %2 = exp %1 : f32[4, 2]
      yield %2
    }
    %3 = alloc : &f32[2]
    compute %0, %3 {family = "reduce", outs = 1} (%4: f32[4, 2]) {
      %5 = reduce %4 {op = sum, axes = [0]} : f32[2]
      yield %5
    }
    compute %0, %i, %u, %0 {family = "scatter", outs = 1} (%6: f32[4, 2], %7: i64[3, 2], %8: f32[3, 2]) {
      %9 = scatter_elements %6, %7, %8 {axis = 0, in_place} : f32[4, 2]
      yield %9
    }
    compute %0, %i, %u, %0 {family = "scatter", outs = 1} (%10: f32[4, 2], %11: i64[3, 2], %12: f32[3, 2]) {
      %13 = scatter_elements %10, %11, %12 {axis = 0, reduce = add, in_place} : f32[4, 2]
      yield %13
    }
    %14 = alloc : &f32[4, 2]
    compute %x, %14 {family = "map", outs = 1} (%15: f32[4, 2]) {
      %16 = sin %15 : f32[4, 2]
      yield %16
    }
    %17 = alloc : &f32[8]
    %18 = view %17 {offset = 0, strides = [2, 1]} : &f32[4, 2]
    compute %14, %j, %14, %18 {family = "scatter", outs = 1} (%19: f32[4, 2], %20: i64[4, 2], %21: f32[4, 2]) {
      %22 = scatter_elements %19, %20, %21 {axis = 0} : f32[4, 2]
      yield %22
    }
    %23 = alloc : &f32[4, 2]
    compute %x, %23 {family = "map", outs = 1} (%24: f32[4, 2]) {
      %25 = cos %24 : f32[4, 2]
      yield %25
    }
    %26 = alloc : &f32[4, 2]
    compute %23, %i, %u, %26 {family = "scatter", outs = 1} (%27: f32[4, 2], %28: i64[3, 2], %29: f32[3, 2]) {
      %30 = scatter_elements %27, %28, %29 {axis = 0} : f32[4, 2]
      yield %30
    }
    %31 = alloc : &f32[4, 2]
    compute %23, %26, %31 {family = "map", outs = 1} (%32: f32[4, 2], %33: f32[4, 2]) {
      %34 = add %32, %33 : f32[4, 2]
      yield %34
    }
    ret %0, %3, %17, %31
  }
}
