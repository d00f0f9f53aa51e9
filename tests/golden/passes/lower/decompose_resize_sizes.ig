# decompose: a resize whose sizes are data names its extents, so it stays.
# run: decompose,dce
# target: cpu:v3
module @m {
  graph @main(%x: f32[1, 1, 4, 4], %sizes: i64[4]) -> (f32[n, n2, n3, n4] "y") {
    %0 = const {value = [0, 0, 0, 0]} : f32[4]
    %1 = const {value = [0, 0, 0, 0, 1, 1, 1, 1]} : f32[8]
    %2 = resize %x, %0, %1, %sizes {mode = linear} : f32[n, n2, n3, n4] "y"
    ret %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[1, 1, 4, 4], %sizes: i64[4]) -> (f32[n, n2, n3, n4] "y") {
    %0 = const {value = [0, 0, 0, 0]} : f32[4]
    %1 = const {value = [0, 0, 0, 0, 1, 1, 1, 1]} : f32[8]
    %2 = resize %x, %0, %1, %sizes {mode = linear} : f32[n, n2, n3, n4] "y"
    ret %2
  }
}
