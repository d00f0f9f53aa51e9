# bufferise: what a state is behind a call lies in a buffer, whose extent may be another.
# run: fuse,bufferise
# then: lower
module @m {
  weight @seen : f32[2] = [1, 2]
  graph @main(%x: f32[N], %seen: f32[S] = @seen) -> (f32[N] "y", f32[S + N]) {
    %0 = relu %x : f32[N]
    %1 = concat %seen, %x {axis = 0} : f32[S + N]
    ret %0, %1
  }
}
# expect:
module @m {
  weight @seen : f32[2] = [1, 2]
  plan @main(%x: f32[N], %seen: f32[S] = @seen) -> (&f32[N] "y", &f32[N + S]) {
    %0 = alloc : &f32[N]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[N]) {
      %2 = relu %1 : f32[N]
      yield %2
    }
    %3 = alloc : &f32[N + S]
    %4 = view %3 {offset = 0, strides = [1]} : &f32[S]
    compute %seen, %4 {family = "copy", outs = 1} (%5: f32[S]) {
      yield %5
    }
    %6 = view %3 {offset = S, strides = [1]} : &f32[N]
    compute %x, %6 {family = "copy", outs = 1} (%7: f32[N]) {
      yield %7
    }
    ret %0, %3
  }
}
