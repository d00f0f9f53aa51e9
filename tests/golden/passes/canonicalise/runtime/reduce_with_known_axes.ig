# reduce_with_known_axes: axes that are known are attributes; none at all are all, or none where the op says so.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3, 4]) -> (f32[B, 4], f32[B, 1, 1], f32[], f32[B, 3, 4]) {
    %0 = const {value = [1]} : i64[1]
    %1 = reduce %x, %0
    %2 = const {value = [-1, 1]} : i64[2]
    %3 = reduce %x, %2 {op = max, keep}
    %4 = const {value = []} : i64[0]
    %5 = reduce %x, %4 {op = mean}
    %6 = reduce %x, %4 {op = sumsq, noop_if_empty}
    ret %1, %3, %5, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 4]) -> (f32[B, 4], f32[B, 1, 1], f32[], f32[B, 3, 4]) {
    %0 = reduce %x {axes = [1]} : f32[B, 4]
    %1 = reduce %x {op = max, axes = [-1, 1], keep} : f32[B, 1, 1]
    %2 = reduce %x {op = mean} : f32[]
    %3 = reduce %x {op = sumsq, axes = [], noop_if_empty} : f32[B, 3, 4]
    ret %0, %1, %2, %3
  }
}
