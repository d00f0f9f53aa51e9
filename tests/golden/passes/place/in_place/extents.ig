# bufferise: a guard makes sure that a result has the extents of the argument it stands in.
# run: fuse,bufferise
# then: lower
# refuses: inputs of other extents
module @m {
  graph @main(%a: f32[A], %b: f32[B]) -> (f32[B] "next") {
    %0 = neg %b : f32[B]
    ret %0 {in_place = [0]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[A], %b: f32[B]) -> (f32[A] "next") {
    %0 = alloc : &f32[B]
    compute %b, %0 {family = "map", outs = 1} (%1: f32[B]) {
      %2 = neg %1 : f32[B]
      yield %2
    }
    guard eq(A, B) "dim 0 of 'next' is that of the input in whose memory it stands"
    commit
    %3 = view %a {offset = 0, strides = [1]} : &f32[B]
    compute %0, %3 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %a {in_place = [0]}
  }
}
