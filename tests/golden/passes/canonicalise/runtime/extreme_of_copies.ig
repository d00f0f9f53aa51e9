# canonicalise: the largest of copies is the one; where there may be none, sums, and axes
# that are not copied stay.
# run: canonicalise,dce
# not run: M and N are no extents of an input, and the copies are too many
module @m {
  symbol N {min = 0}
  symbol M {min = 1}
  graph @main(%x: f32[4, 1], %c: f32[]) -> (f32[4], f32[], f32[7, 1], f32[4], f32[4]) {
    %0 = expand %x {to = [7, 4, 1048576]} : f32[7, 4, 1048576]
    %1 = reduce %0 {op = max, axes = [0, -1]} : f32[4]
    %2 = expand %c {to = [1048576, 1048576, M]} : f32[1048576, 1048576, M]
    %3 = reduce %2 {op = min} : f32[]
    %4 = reduce %0 {op = max, axes = [1, 2], keep} : f32[7, 1, 1]
    %5 = reshape %4 {to = [7, 1]} : f32[7, 1]
    %6 = expand %x {to = [4, N]} : f32[4, N]
    %7 = reduce %6 {op = max, axes = [1]} : f32[4]
    %8 = reduce %0 {op = sum, axes = [0, 2]} : f32[4]
    ret %1, %3, %5, %7, %8
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 1], %c: f32[]) -> (f32[4], f32[], f32[7, 1], f32[4], f32[4]) {
    %0 = expand %x {to = [7, 4, 1048576]} : f32[7, 4, 1048576]
    %1 = expand %x {to = [1, 4, 1]} : f32[1, 4, 1]
    %2 = reduce %1 {op = max, axes = [0, -1]} : f32[4]
    %3 = expand %c {to = [1, 1, 1]} : f32[1, 1, 1]
    %4 = reduce %3 {op = min} : f32[]
    %5 = expand %x {to = [7, 4, 1]} : f32[7, 4, 1]
    %6 = reduce %5 {op = max, axes = [1, 2], keep} : f32[7, 1, 1]
    %7 = reshape %6 {to = [7, 1]} : f32[7, 1]
    %8 = expand %x {to = [4, N]} : f32[4, N]
    %9 = reduce %8 {op = max, axes = [1]} : f32[4]
    %10 = reduce %0 {op = sum, axes = [0, 2]} : f32[4]
    ret %2, %4, %7, %9, %10
  }
}
