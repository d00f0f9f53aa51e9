module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @mask(%ids: i64[B, 3], %mask: f32[1, 3, 1]) -> (f32[B, 4]) {
    %0 = expand %mask {to = [B, 3, 1]} : f32[B, 3, 1]
    %1 = reshape %0 {to = [B, 3]} : f32[B, 3]
    %2 = bag @table, %ids, %1 {operands = [4], pool = [max], empty = [neg_inf]} : f32[B, 4]
    ret %2
  }
  graph @deep(%ids: i32[B, 2, L]) -> (f32[B, 2, 1, 4]) {
    %0 = reshape %ids {to = [2*B, L]} : i32[2*B, L]
    %1 = bag @table, %0 {operands = [0], pool = [mean], empty = [nan]} : f32[2*B, 4]
    %2 = reshape %1 {to = [B, 2, 1, 4]} : f32[B, 2, 1, 4]
    ret %2
  }
  graph @flat(%ids: i64[B, 5]) -> (f32[B, 4]) {
    %0 = reshape %ids {to = [5*B]} : i64[5*B]
    %1 = reshape %0 {to = [B, 5]} : i64[B, 5]
    %2 = bag @table, %1 {operands = [0], pool = [sum]} : f32[B, 4]
    ret %2
  }
}
