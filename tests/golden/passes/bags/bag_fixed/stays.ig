# bag_fixed: known ids, another axis, weights along the row, a table that is computed.
# run: bag_fixed,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @known() -> (f32[1, 4]) {
    %ids = const {value = [1, 2]} : i64[1, 2]
    %0 = gather @table, %ids {axis = 0} : f32[1, 2, 4]
    %1 = reduce %0 {op = sum, axes = [1]} : f32[1, 4]
    ret %1
  }
  graph @axis(%ids: i64[B, L]) -> (f32[L, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[L, 4]
    ret %1
  }
  graph @along(%ids: i64[B, L], %w: f32[B, L, 4]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = mul %0, %w : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
  graph @computed(%ids: i64[B, L], %x: f32[11, 4]) -> (f32[B, 4]) {
    %0 = relu %x : f32[11, 4]
    %1 = gather %0, %ids {axis = 0} : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @known() -> (f32[1, 4]) {
    %0 = const {value = [1, 2]} : i64[1, 2]
    %1 = gather @table, %0 {axis = 0} : f32[1, 2, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[1, 4]
    ret %2
  }
  graph @axis(%ids: i64[B, L]) -> (f32[L, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = reduce %0 {op = sum, axes = [0]} : f32[L, 4]
    ret %1
  }
  graph @along(%ids: i64[B, L], %w: f32[B, L, 4]) -> (f32[B, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, L, 4]
    %1 = mul %0, %w : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
  graph @computed(%ids: i64[B, L], %x: f32[11, 4]) -> (f32[B, 4]) {
    %0 = relu %x : f32[11, 4]
    %1 = gather %0, %ids {axis = 0} : f32[B, L, 4]
    %2 = reduce %1 {op = sum, axes = [1]} : f32[B, 4]
    ret %2
  }
}
