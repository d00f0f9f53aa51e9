# bufferise: branches write where the result lies, and set the extents it has.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%c: bool[], %x: f32[A], %y: f32[B]) -> (f32[n] "o") {
    %0 = if %c : f32[n] {
      %1 = relu %x : f32[A]
      yield %1
    } else {
      yield %y
    }
    ret %0
  }
}
# expect:
module @m {
  plan @main(%c: bool[], %x: f32[A], %y: f32[B]) -> (&f32[n] "o") {
    %0 = alloc : &f32[n]
    if %c {
      %1 = alloc : &f32[A]
      compute %x, %1 {family = "map", outs = 1} (%2: f32[A]) {
        %3 = relu %2 : f32[A]
        yield %3
      }
      let {symbol = n, value = A}
      %4 = view %0 {offset = 0, strides = [1]} : &f32[A]
      compute %1, %4 {family = "copy", outs = 1} (%5: f32[A]) {
        yield %5
      }
      yield
    } else {
      let {symbol = n, value = B}
      %6 = view %0 {offset = 0, strides = [1]} : &f32[B]
      compute %y, %6 {family = "copy", outs = 1} (%7: f32[B]) {
        yield %7
      }
      yield
    }
    ret %0
  }
}
