# bufferise: computed straight into the concat's buffer; an input and a second use are copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 3]) -> (f32[B, 11] "o", f32[B, 4] "p") {
    %0 = relu %x : f32[B, 4]
    %1 = concat %0, %y, %0 {axis = 1} : f32[B, 11]
    ret %1, %x
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %y: f32[B, 3]) -> (&f32[B, 11] "o", &f32[B, 4] "p") {
    %0 = alloc : &f32[B, 11]
    %1 = view %0 {offset = 0, strides = [11, 1]} : &f32[B, 4]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 4]) {
      %3 = relu %2 : f32[B, 4]
      yield %3
    }
    %4 = view %0 {offset = 4, strides = [11, 1]} : &f32[B, 3]
    compute %y, %4 {family = "copy", outs = 1} (%5: f32[B, 3]) {
      yield %5
    }
    %6 = view %0 {offset = 0, strides = [11, 1]} : &f32[B, 4]
    %7 = view %0 {offset = 7, strides = [11, 1]} : &f32[B, 4]
    compute %6, %7 {family = "copy", outs = 1} (%8: f32[B, 4]) {
      yield %8
    }
    %9 = alloc : &f32[B, 4]
    compute %x, %9 {family = "copy", outs = 1} (%10: f32[B, 4]) {
      yield %10
    }
    ret %0, %9
  }
}
