# bufferise: axes of extent 1 say nothing about strides; a reshape over them is copied.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 64]) -> (f32[B, 24, 1], f32[B, 3, 1]) {
    %0 = reshape %x {to = [B, 8, 1, 8]} : f32[B, 8, 1, 8]
    %1 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 8, 1, 3], steps = [1, 1, 1, 1]} : f32[B, 8, 1, 3]
    %2 = reshape %1 {to = [B, 24, 1]} : f32[B, 24, 1]
    %3 = slice %0 {starts = [0, 0, 0, 1], sizes = [B, 3, 1, 1], steps = [1, 2, 1, 1]} : f32[B, 3, 1, 1]
    %4 = reshape %3 {to = [B, 3, 1]} : f32[B, 3, 1]
    ret %2, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 64]) -> (&f32[B, 24, 1], &f32[B, 3, 1]) {
    %0 = alloc : &f32[B, 8, 1, 3]
    %1 = view %x {offset = 1, strides = [64, 8, 8, 1]} : &f32[B, 8, 1, 3]
    compute %1, %0 {family = "copy", outs = 1} (%2: f32[B, 8, 1, 3]) {
      yield %2
    }
    %3 = alloc : &f32[B, 24, 1]
    %4 = view %0 {offset = 0, strides = [24, 1, 1]} : &f32[B, 24, 1]
    compute %4, %3 {family = "copy", outs = 1} (%5: f32[B, 24, 1]) {
      yield %5
    }
    %6 = alloc : &f32[B, 3, 1]
    %7 = view %x {offset = 1, strides = [64, 16, 1]} : &f32[B, 3, 1]
    compute %7, %6 {family = "copy", outs = 1} (%8: f32[B, 3, 1]) {
      yield %8
    }
    ret %3, %6
  }
}
