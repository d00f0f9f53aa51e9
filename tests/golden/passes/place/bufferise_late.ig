# bufferise: what is computed before an extent is known is not written into its buffer.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[B, 2], %count: i64[1], %y: f32[3]) -> (f32[n, 5]) {
    %0 = relu %x : f32[B, 2]
    bind %count {symbols = [n]}
    guard eq(B, n) "as many rows as the count says"
    %1 = expand %y {to = [n, 3]} : f32[n, 3]
    %2 = relu %1 : f32[n, 3]
    %3 = concat %0, %2 {axis = 1} : f32[n, 5]
    ret %3
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 2], %count: i64[1], %y: f32[3]) -> (&f32[n, 5]) {
    %0 = alloc : &f32[B, 2]
    compute %x, %0 {family = "map", outs = 1} (%1: f32[B, 2]) {
      %2 = relu %1 : f32[B, 2]
      yield %2
    }
    bind %count {symbols = [n]}
    guard eq(B, n) "as many rows as the count says"
    %3 = view %y {offset = 0, strides = [0, 1]} : &f32[n, 3]
    %4 = alloc : &f32[n, 5]
    %5 = view %4 {offset = 2, strides = [5, 1]} : &f32[n, 3]
    compute %3, %5 {family = "map", outs = 1} (%6: f32[n, 3]) {
      %7 = relu %6 : f32[n, 3]
      yield %7
    }
    %8 = view %4 {offset = 0, strides = [5, 1]} : &f32[B, 2]
    compute %0, %8 {family = "copy", outs = 1} (%9: f32[B, 2]) {
      yield %9
    }
    ret %4
  }
}
