# bufferise: views are strides of their buffer; a reshape that strides cannot say is a copy.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4, 6]) -> (f32[6, B] "o", f32[4*B, 6] "p", f32[24*B] "q") {
    %0 = slice %x {starts = [0, 1, 0], sizes = [B, 1, 6], steps = [1, 1, 1]} : f32[B, 1, 6]
    %1 = reshape %0 {to = [B, 6]} : f32[B, 6]
    %2 = transpose %1 {perm = [1, 0]} : f32[6, B]
    %3 = relu %2 : f32[6, B]
    %4 = reshape %x {to = [4*B, 6]} : f32[4*B, 6]
    %5 = neg %4 : f32[4*B, 6]
    %6 = transpose %x {perm = [2, 0, 1]} : f32[6, B, 4]
    %7 = reshape %6 {to = [24*B]} : f32[24*B]
    %8 = abs %7 : f32[24*B]
    ret %3, %5, %8
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4, 6]) -> (&f32[6, B] "o", &f32[4*B, 6] "p", &f32[24*B] "q") {
    %0 = view %x {offset = 6, strides = [1, 24]} : &f32[6, B]
    %1 = alloc : &f32[6, B]
    compute %0, %1 {family = "map", outs = 1} (%2: f32[6, B]) {
      %3 = relu %2 : f32[6, B]
      yield %3
    }
    %4 = view %x {offset = 0, strides = [6, 1]} : &f32[4*B, 6]
    %5 = alloc : &f32[4*B, 6]
    compute %4, %5 {family = "map", outs = 1} (%6: f32[4*B, 6]) {
      %7 = neg %6 : f32[4*B, 6]
      yield %7
    }
    %8 = alloc : &f32[24*B]
    %9 = view %x {offset = 0, strides = [1, 24, 6]} : &f32[6, B, 4]
    %10 = view %8 {offset = 0, strides = [4*B, 4, 1]} : &f32[6, B, 4]
    compute %9, %10 {family = "copy", outs = 1} (%11: f32[6, B, 4]) {
      yield %11
    }
    %12 = alloc : &f32[24*B]
    compute %8, %12 {family = "map", outs = 1} (%13: f32[24*B]) {
      %14 = abs %13 : f32[24*B]
      yield %14
    }
    ret %1, %5, %12
  }
}
