# dce: an op that defines a symbol stays while something mentions it; the second reshape defines one that nothing mentions.
# run: dce
module @m {
  graph @main(%x: f32[N], %s: i64[1], %y: f32[B]) -> (i64[1], f32[B]) {
    %0 = reshape %x, %s : f32[T]
    %1 = reshape %x, %s : f32[U]
    %2 = dims {values = [T]}
    %3 = dims {values = [U]}
    %4 = expand %y {to = [B]}
    ret %2, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %s: i64[1], %y: f32[B]) -> (i64[1], f32[B]) {
    %0 = reshape %x, %s : f32[T]
    %1 = dims {values = [T]} : i64[1]
    %2 = expand %y {to = [B]} : f32[B]
    ret %1, %2
  }
}
