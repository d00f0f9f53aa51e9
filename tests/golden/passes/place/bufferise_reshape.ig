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
    %0 = alloc : &f32[B, 24, 1]
    %1 = view %x {offset = 1, strides = [64, 8, 8, 1]} : &f32[B, 8, 1, 3]
    %2 = view %0 {offset = 0, strides = [24, 3, 3, 1]} : &f32[B, 8, 1, 3]
    compute %1, %2 {family = "copy", outs = 1} (%3: f32[B, 8, 1, 3]) {
      yield %3
    }
    %4 = alloc : &f32[B, 3, 1]
    %5 = view %x {offset = 1, strides = [64, 16, 1]} : &f32[B, 3, 1]
    compute %5, %4 {family = "copy", outs = 1} (%6: f32[B, 3, 1]) {
      yield %6
    }
    ret %0, %4
  }
}
