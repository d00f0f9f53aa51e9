module @m {
  graph @main(%x: f32[B, 3, 4]) -> (f32[B, 4], f32[B, 1, 1], f32[], f32[B, 3, 4]) {
    %0 = reduce %x {axes = [1]} : f32[B, 4]
    %1 = reduce %x {op = max, axes = [-1, 1], keep} : f32[B, 1, 1]
    %2 = reduce %x {op = mean} : f32[]
    %3 = reduce %x {op = sumsq, axes = [], noop_if_empty} : f32[B, 3, 4]
    ret %0, %1, %2, %3
  }
}
