# cse: computes equal things once. Operands of an op that commutes may be exchanged; types must be equal.
# run: cse
module @m {
  graph @main(%x: f32[B], %y: f32[B], %s: i64[1], %t: f32[N]) -> (f32[B], f32[B], f32[P], f32[Q], f32[Q]) {
    %0 = add %x, %y
    %1 = add %y, %x
    %2 = sub %x, %y
    %3 = sub %y, %x
    %4 = const {value = [1, 2]} : f32[2]
    %5 = const {value = [1, 2]} : f32[2]
    %6 = const {value = [1, -2]} : f32[2]
    %7 = mul %0, %1
    %8 = mul %2, %3
    %9 = reshape %t, %s : f32[P]
    %10 = reshape %t, %s : f32[Q]
    %11 = reshape %t, %s : f32[Q]
    guard eq(B, N) "one"
    guard eq(B, N) "the same"
    guard le(B, N) "another"
    ret %7, %8, %9, %10, %11
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[B], %s: i64[1], %t: f32[N]) -> (f32[B], f32[B], f32[P], f32[Q], f32[Q]) {
    %0 = add %x, %y : f32[B]
    %1 = sub %x, %y : f32[B]
    %2 = sub %y, %x : f32[B]
    %3 = const {value = [1, 2]} : f32[2]
    %4 = const {value = [1, -2]} : f32[2]
    %5 = mul %0, %0 : f32[B]
    %6 = mul %1, %2 : f32[B]
    %7 = reshape %t, %s : f32[P]
    %8 = reshape %t, %s : f32[Q]
    guard eq(B, N) "one"
    guard le(B, N) "another"
    ret %5, %6, %7, %8, %8
  }
}
