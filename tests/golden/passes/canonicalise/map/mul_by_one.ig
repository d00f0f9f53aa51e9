# mul_by_one: x * 1 is x where 1 does not make the result larger, also where 1 was expanded.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[], %z: f32[B, 4]) -> (f32[B], f32[1], f32[B], f32[B, 4]) {
    %0 = const {value = 1.0} : f32[]
    %1 = mul %x, %0
    %2 = const {value = [1.0]} : f32[1]
    %3 = mul %2, %y
    %4 = mul %0, %x
    %5 = expand %0 {to = [B]}
    %6 = reshape %5 {to = [B, 1]}
    %7 = mul %z, %6
    ret %1, %3, %4, %7
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[], %z: f32[B, 4]) -> (f32[B], f32[1], f32[B], f32[B, 4]) {
    %0 = const {value = [1]} : f32[1]
    %1 = mul %0, %y : f32[1]
    ret %x, %1, %x, %z
  }
}
