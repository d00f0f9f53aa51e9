# channels_last: computed weights, few channels a group, other dtypes and other targets stay.
# run: channels_last
# target: cpu:v3
module @m {
  weight @w : f32[2, 3, 3, 3] = splat(0.5)
  weight @g : f32[12, 3, 1, 1] = splat(0.5)
  weight @h : f16[20, 3, 3, 3] = splat(0.5)
  graph @main(%x: f32[B, 3, 30, 32], %y: f32[B, 9, 5, 5], %z: f16[B, 3, 5, 5], %v: f32[20, 3, 3, 3]) -> (f32[B, 2, 28, 30], f32[B, 12, 5, 5], f16[B, 20, 3, 3], f32[B, 20, 28, 30]) {
    %0 = conv %x, @w : f32[B, 2, 28, 30]
    %1 = conv %y, @g {group = 3} : f32[B, 12, 5, 5]
    %2 = conv %z, @h : f16[B, 20, 3, 3]
    %3 = conv %x, %v : f32[B, 20, 28, 30]
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  weight @w : f32[2, 3, 3, 3] = splat(0.5)
  weight @g : f32[12, 3, 1, 1] = splat(0.5)
  weight @h : f16[20, 3, 3, 3] = splat(0.5)
  graph @main(%x: f32[B, 3, 30, 32], %y: f32[B, 9, 5, 5], %z: f16[B, 3, 5, 5], %v: f32[20, 3, 3, 3]) -> (f32[B, 2, 28, 30], f32[B, 12, 5, 5], f16[B, 20, 3, 3], f32[B, 20, 28, 30]) {
    %0 = conv %x, @w : f32[B, 2, 28, 30]
    %1 = conv %y, @g {group = 3} : f32[B, 12, 5, 5]
    %2 = conv %z, @h : f16[B, 20, 3, 3]
    %3 = conv %x, %v : f32[B, 20, 28, 30]
    ret %0, %1, %2, %3
  }
}
