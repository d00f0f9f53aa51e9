# bufferise: what a reshape cannot say by strides of the concat is computed apart and copied.
# run: pack,fuse,bufferise
# then: lower
module @m {
  weight @w : f32[5, 6] = splat(0.5)
  graph @main(%x: f32[B, 5], %y: f32[B, 2, 3]) -> (f32[B, 2, 6] "o") {
    %0 = matmul %x, @w : f32[B, 6]
    %1 = reshape %0 {to = [B, 2, 3]} : f32[B, 2, 3]
    %2 = concat %y, %1 {axis = 2} : f32[B, 2, 6]
    ret %2
  }
}
# expect:
module @m {
  weight @w : f32[5, 6] = splat(0.5)
  plan @main(%x: f32[B, 5], %y: f32[B, 2, 3]) -> (&f32[B, 2, 6] "o") {
    %0 = alloc : &f32[B, 6]
    compute %x, @w, %0 {family = "dot", outs = 1} (%1: f32[B, 5], %2: f32[5, 6]) {
      %3 = matmul %1, %2 : f32[B, 6]
      yield %3
    }
    %4 = alloc : &f32[B, 2, 6]
    %5 = view %4 {offset = 0, strides = [12, 6, 1]} : &f32[B, 2, 3]
    compute %y, %5 {family = "copy", outs = 1} (%6: f32[B, 2, 3]) {
      yield %6
    }
    %7 = view %0 {offset = 0, strides = [6, 3, 1]} : &f32[B, 2, 3]
    %8 = view %4 {offset = 3, strides = [12, 6, 1]} : &f32[B, 2, 3]
    compute %7, %8 {family = "copy", outs = 1} (%9: f32[B, 2, 3]) {
      yield %9
    }
    ret %4
  }
}
