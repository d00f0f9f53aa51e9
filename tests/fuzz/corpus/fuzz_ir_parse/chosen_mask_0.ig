module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @mask(%ids: i64[B, 3], %mask: f32[1, 3, 1]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, 3, 4]
    %1 = mul %mask, %0 : f32[B, 3, 4]
    %2 = reduce %1 {op = max, axes = [-2]} : f32[B, 4]
    ret %2
  }
  graph @deep(%ids: i32[B, 2, L]) -> (f32[B, 2, 1, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, 2, L, 4]
    %1 = reduce %0 {op = mean, axes = [2], keep} : f32[B, 2, 1, 4]
    ret %1
  }
  graph @flat(%ids: i64[B, 5]) -> (f32[B, 4]) {
    %0 = reshape %ids {to = [5*B]} : i64[5*B]
    %1 = gather @table, %0 {axis = 0} : f32[5*B, 4]
    %2 = reshape %1 {to = [B, 5, 4]} : f32[B, 5, 4]
    %3 = reduce %2 {op = sum, axes = [1]} : f32[B, 4]
    ret %3
  }
}
