# The body of an update takes and gives rows, and sees nothing else but constants.
# run: verify
module @m {
  graph @main(%w: f32[9, 4], %s: f32[9, 1], %r: i64[N], %p: i64[N], %d: f32[B, 4], %k: f32[]) -> (f32[9, 4], f32[9, 1]) {
    %0, %1 = bag_update %w, %s, %r, %p, %d {tables = 1, states = 1} (%2: f32[1, 4], %3: f32[1, 4], %4: f32[1, 1]) {
      %5 = mul %3, %k : f32[1, 4]
      yield %5, %4
    } : f32[9, 4], f32[9, 1]
    %6, %7 = bag_update %0, %1, %r, %p, %d {tables = 1, states = 1} (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 4]) {
      yield %9, %10
    } : f32[9, 4], f32[9, 1]
    %11, %12 = bag_update %6, %7, %r, %p, %d, %k {tables = 1, states = 1} (%13: f32[1, 4], %14: f32[1, 4], %15: f32[1, 1]) {
      yield %13, %15
    } : f32[9, 4], f32[9, 1]
    ret %11, %12
  }
}
# expect-error: 6:12: operand 1 comes from outside of the bag_update
# expect-error: 9:14: the body takes and gives no rows of the operands
# expect-error: 12:16: body 0 must have 4 arguments, not 3
