# infer: an if has the type on which its branches agree; what does not fit in a branch stays.
# run: infer
module @m {
  graph @main(%c: bool[], %x: f32[4], %y: f32[N], %z: f32[5]) -> (f32[A], f32[C]) {
    %0 = if %c : f32[A] {
      %1 = relu %x
      yield %1
    } else {
      %2 = neg %x : f32[D]
      yield %2
    }
    %3 = if %c : f32[C] {
      yield %x
    } else {
      yield %y
    }
    ret %0, %3
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[4], %y: f32[N], %z: f32[5]) -> (f32[4], f32[C]) {
    %0 = if %c : f32[4] {
      %1 = relu %x : f32[4]
      yield %1
    } else {
      %2 = neg %x : f32[4]
      yield %2
    }
    %3 = if %c : f32[C] {
      yield %x
    } else {
      yield %y
    }
    ret %0, %3
  }
}
