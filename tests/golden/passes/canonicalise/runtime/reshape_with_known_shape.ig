# reshape_with_known_shape: a shape that is known is an attribute; what the run would have checked is a guard.
# run: canonicalise
# values: s below 4
module @m {
  graph @main(%x: f32[B, 6], %y: f32[N], %s: i64[2]) -> (f32[3*B, 2], f32[B, 3], f32[B, 2, 3], f32[P, Q]) {
    %0 = const {value = [-1, 2]} : i64[2]
    %1 = reshape %x, %0
    %2 = dims {values = [B, 3]}
    %3 = reshape %y, %2
    %4 = dims {values = [B, -1, 3]}
    %5 = reshape %x, %4
    %6 = reshape %y, %s : f32[P, Q]
    ret %1, %3, %5, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 6], %y: f32[N], %s: i64[2]) -> (f32[3*B, 2], f32[B, 3], f32[B, 2, 3], f32[P, Q]) {
    %0 = reshape %x {to = [3*B, 2]} : f32[3*B, 2]
    %1 = reshape %y {to = [B, 3]} : f32[B, 3]
    guard eq(N, 3*B) "a reshape keeps the number of elements"
    %2 = reshape %x {to = [B, 2, 3]} : f32[B, 2, 3]
    %3 = reshape %y, %s : f32[P, Q]
    ret %0, %1, %2, %3
  }
}
