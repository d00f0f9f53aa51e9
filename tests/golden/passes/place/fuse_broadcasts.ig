# fuse: extents that may differ keep ops apart: one of them may be 1, which the other repeats.
# run: fuse
module @m {
  graph @main(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = exp %x : f32[A]
    %1 = add %0, %y : f32[bcast(A, B)]
    %2 = neg %1 : f32[bcast(A, B)]
    ret %2
  }
  graph @products(%x: f32[A, 3], %w: f32[3, 4], %y: f32[B, 4]) -> (f32[bcast(A, B), 4]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = matmul %x, %w : f32[A, 4]
    %1 = add %0, %y : f32[bcast(A, B), 4]
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[A], %y: f32[B]) -> (f32[bcast(A, B)]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = fused %x {family = "map"} : f32[A] (%1: f32[A]) {
      %2 = exp %1 : f32[A]
      yield %2
    }
    %3 = fused %0, %y {family = "map"} : f32[bcast(A, B)] (%4: f32[A], %5: f32[B]) {
      %6 = add %4, %5 : f32[bcast(A, B)]
      %7 = neg %6 : f32[bcast(A, B)]
      yield %7
    }
    ret %3
  }
  graph @products(%x: f32[A, 3], %w: f32[3, 4], %y: f32[B, 4]) -> (f32[bcast(A, B), 4]) {
    guard eq(bcast(A, B), bcast(B, A))
    %0 = fused %x, %w {family = "dot"} : f32[A, 4] (%1: f32[A, 3], %2: f32[3, 4]) {
      %3 = matmul %1, %2 : f32[A, 4]
      yield %3
    }
    %4 = fused %0, %y {family = "map"} : f32[bcast(A, B), 4] (%5: f32[A, 4], %6: f32[B, 4]) {
      %7 = add %5, %6 : f32[bcast(A, B), 4]
      yield %7
    }
    ret %4
  }
}
