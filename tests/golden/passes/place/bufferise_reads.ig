# bufferise: what another op reads is not changed in place by an insert, nor what it is another shape of.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4], %c: f32[B, 1], %d: f32[B, 1, 2]) -> (f32[B, 4] "a", f32[B, 4] "b", f32[B, 2, 2] "c", f32[B, 4] "d") {
    %0 = exp %x : f32[B, 4]
    %1 = insert %0, %c {starts = [0, 1]} : f32[B, 4]
    %2 = matmul %1, %1 {transpose_b} : f32[B, B]
    %3 = matmul %2, %0 : f32[B, 4]
    %4 = sqrt %x : f32[B, 4]
    %5 = reshape %4 {to = [B, 2, 2]} : f32[B, 2, 2]
    %6 = insert %5, %d {starts = [0, 1, 0]} : f32[B, 2, 2]
    %7 = softmax %4 {axis = 1} : f32[B, 4]
    ret %1, %3, %6, %7
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %c: f32[B, 1], %d: f32[B, 1, 2]) -> (&f32[B, 4] "a", &f32[B, 4] "b", &f32[B, 2, 2] "c", &f32[B, 4] "d") {
    %0 = alloc : &f32[B, 4]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[B, 4]) {
      %2 = exp %1 : f32[B, 4]
      yield %2
    }
    %3 = alloc : &f32[B, 4]
    compute %0, %3 {family = "copy", outs = 1} (%4: f32[B, 4]) {
      yield %4
    }
    %5 = view %3 {offset = 1, strides = [4, 1]} : &f32[B, 1]
    compute %c, %5 {family = "copy", outs = 1} (%6: f32[B, 1]) {
      yield %6
    }
    %7 = alloc : &f32[B, B]
    compute %3, %3, %7 {family = "dot", outs = 1} (%8: f32[B, 4], %9: f32[B, 4]) {
      %10 = matmul %8, %9 {transpose_b} : f32[B, B]
      yield %10
    }
    %11 = alloc : &f32[B, 4]
    compute %7, %0, %11 {family = "dot", outs = 1} (%12: f32[B, B], %13: f32[B, 4]) {
      %14 = matmul %12, %13 : f32[B, 4]
      yield %14
    }
    %15 = alloc : &f32[B, 4]
    compute %x, %15 {family = "map", outs = 1} (%16: f32[B, 4]) {
      %17 = sqrt %16 : f32[B, 4]
      yield %17
    }
    %18 = alloc : &f32[B, 2, 2]
    %19 = view %15 {offset = 0, strides = [4, 2, 1]} : &f32[B, 2, 2]
    compute %19, %18 {family = "copy", outs = 1} (%20: f32[B, 2, 2]) {
      yield %20
    }
    %21 = view %18 {offset = 2, strides = [4, 2, 1]} : &f32[B, 1, 2]
    compute %d, %21 {family = "copy", outs = 1} (%22: f32[B, 1, 2]) {
      yield %22
    }
    %23 = alloc : &f32[B, 4]
    compute %15, %23 {family = "softmax", outs = 1} (%24: f32[B, 4]) {
      %25 = softmax %24 {axis = 1} : f32[B, 4]
      yield %25
    }
    ret %3, %11, %18, %23
  }
}
