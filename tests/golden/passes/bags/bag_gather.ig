# ---- look_ups ----
# bag_gather: look-ups of lists, of a matrix and with weights; what is known stays.
# run: bag_gather,dce
# within: 1e-9 a bag's sum begins at 0, so it is never -0
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B], %pairs: i32[B, 2], %w: f32[B]) -> (f32[B, 4], f32[B, 2, 4], f32[B, 4], f32[2, 4]) {
    %0 = gather @table, %ids {axis = 0} : f32[B, 4]
    %1 = gather @table, %pairs {axis = 0} : f32[B, 2, 4]
    %2 = reshape %w {to = [B, 1]} : f32[B, 1]
    %3 = mul %2, %0 : f32[B, 4]
    %4 = const {value = [1, 2]} : i64[2]
    %5 = gather @table, %4 {axis = 0} : f32[2, 4]
    ret %0, %1, %3, %5
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B], %pairs: i32[B, 2], %w: f32[B]) -> (f32[B, 4], f32[B, 2, 4], f32[B, 4], f32[2, 4]) {
    %0 = bag @table, %ids {operands = [0], pool = [none]} : f32[B, 4]
    %1 = reshape %pairs {to = [2*B]} : i32[2*B]
    %2 = bag @table, %1 {operands = [0], pool = [none]} : f32[2*B, 4]
    %3 = reshape %2 {to = [B, 2, 4]} : f32[B, 2, 4]
    %4 = bag @table, %ids, %w {operands = [4], pool = [none]} : f32[B, 4]
    %5 = const {value = [1, 2]} : i64[2]
    %6 = gather @table, %5 {axis = 0} : f32[2, 4]
    ret %0, %3, %4, %6
  }
}
