# copies: a launch writes both places; what is not the whole of one is copied.
# run: fuse,bufferise,copies,order
# target: cuda:sm_80
# not run: its target has threads, which no machine without a GPU runs
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 4]) -> (f32[B, 8], f32[B, 8], f32[B, 6]) {
    %0 = exp %x : f32[B, 4]
    %1 = concat %0, %x {axis = 1} : f32[B, 8]
    %2 = concat %y, %0 {axis = 1} : f32[B, 8]
    %3 = slice %0 {starts = [0, 0], sizes = [B, 2], steps = [1, 1]} : f32[B, 2]
    %4 = concat %3, %y {axis = 1} : f32[B, 6]
    ret %1, %2, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %y: f32[B, 4]) -> (&f32[B, 8], &f32[B, 8], &f32[B, 6]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %2 = alloc : &f32[B, 8]
    %3 = view %2 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %4 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %5 = view %2 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %6 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %7 = alloc : &f32[B, 6]
    %8 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 2]
    %9 = view %7 {offset = 0, strides = [6, 1]} : &f32[B, 2]
    %10 = view %7 {offset = 2, strides = [6, 1]} : &f32[B, 4]
    compute %x, %1, %3 {family = "map", outs = 2} (%11: f32[B, 4]) {
      %12 = exp %11 : f32[B, 4]
      yield %12, %12
    }
    compute %x, %5 {family = "copy", outs = 1} (%13: f32[B, 4]) {
      yield %13
    }
    compute %y, %6 {family = "copy", outs = 1} (%14: f32[B, 4]) {
      yield %14
    }
    compute %y, %10 {family = "copy", outs = 1} (%15: f32[B, 4]) {
      yield %15
    }
    compute %8, %9 {family = "copy", outs = 1} (%16: f32[B, 2]) {
      yield %16
    }
    ret %2, %0, %7
  }
}
