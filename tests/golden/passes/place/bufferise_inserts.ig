# bufferise: a chain of inserts changes one buffer in place.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 3], %c: f32[B, 1]) -> (f32[B, 3] "y") {
    %0 = insert %x, %c {starts = [0, 0]} : f32[B, 3]
    %1 = insert %0, %c {starts = [0, 1]} : f32[B, 3]
    %2 = insert %1, %c {starts = [0, 2]} : f32[B, 3]
    ret %2
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 3], %c: f32[B, 1]) -> (&f32[B, 3] "y") {
    %0 = alloc : &f32[B, 3]
    compute %x, %0 {family = "copy", outs = 1} (%1: f32[B, 3]) {
      yield %1
    }
    %2 = view %0 {offset = 0, strides = [3, 1]} : &f32[B, 1]
    compute %c, %2 {family = "copy", outs = 1} (%3: f32[B, 1]) {
      yield %3
    }
    %4 = view %0 {offset = 1, strides = [3, 1]} : &f32[B, 1]
    compute %c, %4 {family = "copy", outs = 1} (%5: f32[B, 1]) {
      yield %5
    }
    %6 = view %0 {offset = 2, strides = [3, 1]} : &f32[B, 1]
    compute %c, %6 {family = "copy", outs = 1} (%7: f32[B, 1]) {
      yield %7
    }
    ret %0
  }
}
