# ---- channels_last ----
# channels_last: convolutions with constant weights, and the ops between them, take channels last.
# run: channels_last,canonicalise,dce
# values: x plain
# target: cpu:v3
module @m {
  weight @w : f32[20, 3, 3, 3] = splat(0.5)
  weight @d : f32[20, 1, 3, 3] = splat(0.5)
  weight @p : f32[8, 20, 1, 1] = splat(0.5)
  weight @g : f32[20, 10, 1, 1] = splat(0.5)
  graph @main(%x: f32[B, 3, 30, 32], %b: f32[20], %s: f32[B, 20, 1, 1]) -> (f32[B, 8, 28, 30], f32[B, 8], f32[B, 20, 28, 30]) {
    %0 = conv %x, @w, %b : f32[B, 20, 28, 30]
    %1 = relu %0 : f32[B, 20, 28, 30]
    %2 = mul %1, %s : f32[B, 20, 28, 30]
    %3 = pad %2 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 20, 30, 32]
    %4 = conv %3, @d {group = 20} : f32[B, 20, 28, 30]
    %5 = add %4, %2 : f32[B, 20, 28, 30]
    %6 = conv %5, @p : f32[B, 8, 28, 30]
    %7 = reduce %6 {op = mean, axes = [2, 3]} : f32[B, 8]
    %8 = conv %5, @g {group = 2} : f32[B, 20, 28, 30]
    ret %6, %7, %8
  }
}
# expect:
module @m {
  weight @w : f32[20, 3, 3, 3] = splat(0.5)
  weight @d : f32[20, 1, 3, 3] = splat(0.5)
  weight @p : f32[8, 20, 1, 1] = splat(0.5)
  weight @g : f32[20, 10, 1, 1] = splat(0.5)
  weight @w.conv1 : f32[2, 27, 16] = recipe(0)
  weight @d.channels : f32[3, 3, 20] = recipe(1)
  weight @p.conv1 : f32[1, 20, 16] = recipe(2)
  weight @g.conv2 : f32[2, 10, 16] = recipe(3)
  graph @main(%x: f32[B, 3, 30, 32], %b: f32[20], %s: f32[B, 20, 1, 1]) -> (f32[B, 8, 28, 30], f32[B, 8], f32[B, 20, 28, 30]) {
    %0 = transpose %x {perm = [0, 2, 3, 1]} : f32[B, 30, 32, 3]
    %1 = conv_panels %0, @w.conv1 {kernel = [3, 3], columns = 20} : f32[B, 28, 30, 20]
    %2 = add %1, %b : f32[B, 28, 30, 20]
    %3 = relu %2 : f32[B, 28, 30, 20]
    %4 = reshape %s {to = [B, 1, 1, 20]} : f32[B, 1, 1, 20]
    %5 = mul %3, %4 : f32[B, 28, 30, 20]
    %6 = conv_channels %5, @d.channels {before = [1, 1], after = [1, 1]} : f32[B, 28, 30, 20]
    %7 = add %6, %5 : f32[B, 28, 30, 20]
    %8 = conv_panels %7, @p.conv1 {kernel = [1, 1], columns = 8} : f32[B, 28, 30, 8]
    %9 = transpose %8 {perm = [0, 3, 1, 2]} : f32[B, 8, 28, 30]
    %10 = reduce %8 {op = mean, axes = [1, 2], keep} : f32[B, 1, 1, 8]
    %11 = reshape %10 {to = [B, 8]} : f32[B, 8]
    %12 = conv_panels %7, @g.conv2 {kernel = [1, 1], columns = 10, group = 2} : f32[B, 28, 30, 20]
    %13 = transpose %12 {perm = [0, 3, 1, 2]} : f32[B, 20, 28, 30]
    ret %9, %11, %13
  }
  private graph @weights() -> (f32[2, 27, 16], f32[3, 3, 20], f32[1, 20, 16], f32[2, 10, 16]) {
    %0 = reshape @w {to = [1, 20, 3, 3, 3]} : f32[1, 20, 3, 3, 3]
    %1 = const {value = 0} : f32[]
    %2 = pad %0, %1 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 3, 3, 3]
    %3 = reshape %2 {to = [2, 16, 3, 3, 3]} : f32[2, 16, 3, 3, 3]
    %4 = transpose %3 {perm = [0, 3, 4, 2, 1]} : f32[2, 3, 3, 3, 16]
    %5 = reshape %4 {to = [2, 27, 16]} : f32[2, 27, 16]
    %6 = reshape @d {to = [20, 3, 3]} : f32[20, 3, 3]
    %7 = transpose %6 {perm = [1, 2, 0]} : f32[3, 3, 20]
    %8 = reshape @p {to = [1, 8, 20, 1, 1]} : f32[1, 8, 20, 1, 1]
    %9 = const {value = 0} : f32[]
    %10 = pad %8, %9 {before = [0, 0, 0, 0, 0], after = [0, 8, 0, 0, 0]} : f32[1, 16, 20, 1, 1]
    %11 = transpose %10 {perm = [0, 3, 4, 2, 1]} : f32[1, 1, 1, 20, 16]
    %12 = reshape %11 {to = [1, 20, 16]} : f32[1, 20, 16]
    %13 = reshape @g {to = [2, 10, 10, 1, 1]} : f32[2, 10, 10, 1, 1]
    %14 = const {value = 0} : f32[]
    %15 = pad %13, %14 {before = [0, 0, 0, 0, 0], after = [0, 6, 0, 0, 0]} : f32[2, 16, 10, 1, 1]
    %16 = transpose %15 {perm = [0, 3, 4, 2, 1]} : f32[2, 1, 1, 10, 16]
    %17 = reshape %16 {to = [2, 10, 16]} : f32[2, 10, 16]
    ret %5, %7, %12, %17
  }
}
# ---- channels_last_zeros ----
# channels_last: zeros that would be a multiple of the image go into the convolution; those of small pads stay.
# run: channels_last,canonicalise,dce
# values: x plain
# target: cpu:v3
module @m {
  weight @w : f32[20, 64, 3, 3] = splat(0.5)
  graph @main(%x: f32[B, 64, H, W]) -> (f32[B, 20, H, W], f32[B, 20, H, W]) {
    %0 = pad %x {before = [0, 0, 24, 24], after = [0, 0, 24, 24]} : f32[B, 64, H + 48, W + 48]
    %1 = conv %0, @w {dilations = [24, 24]} : f32[B, 20, H, W]
    %2 = pad %x {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 64, H + 2, W + 2]
    %3 = conv %2, @w : f32[B, 20, H, W]
    ret %1, %3
  }
}
# expect:
module @m {
  weight @w : f32[20, 64, 3, 3] = splat(0.5)
  weight @w.conv1 : f32[2, 576, 16] = recipe(0)
  graph @main(%x: f32[B, 64, H, W]) -> (f32[B, 20, H, W], f32[B, 20, H, W]) {
    %0 = transpose %x {perm = [0, 2, 3, 1]} : f32[B, H, W, 64]
    %1 = conv_panels %0, @w.conv1 {kernel = [3, 3], columns = 20, dilations = [24, 24], before = [24, 24], after = [24, 24]} : f32[B, H, W, 20]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    %3 = pad %x {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 64, H + 2, W + 2]
    %4 = transpose %3 {perm = [0, 2, 3, 1]} : f32[B, H + 2, W + 2, 64]
    %5 = conv_panels %4, @w.conv1 {kernel = [3, 3], columns = 20} : f32[B, H, W, 20]
    %6 = transpose %5 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    ret %2, %6
  }
  private graph @weights() -> (f32[2, 576, 16]) {
    %0 = reshape @w {to = [1, 20, 64, 3, 3]} : f32[1, 20, 64, 3, 3]
    %1 = const {value = 0} : f32[]
    %2 = pad %0, %1 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 64, 3, 3]
    %3 = reshape %2 {to = [2, 16, 64, 3, 3]} : f32[2, 16, 64, 3, 3]
    %4 = transpose %3 {perm = [0, 3, 4, 2, 1]} : f32[2, 3, 3, 64, 16]
    %5 = reshape %4 {to = [2, 576, 16]} : f32[2, 576, 16]
    ret %5
  }
}
# ---- channels_last_not ----
# channels_last: computed weights, few channels a group, other dtypes and other targets stay.
# run: channels_last
# target: cpu:v3
module @m {
  weight @w : f32[2, 3, 3, 3] = splat(0.5)
  weight @g : f32[12, 3, 1, 1] = splat(0.5)
  weight @h : f64[20, 3, 3, 3] = splat(0.5)
  graph @main(%x: f32[B, 3, 30, 32], %y: f32[B, 9, 5, 5], %z: f64[B, 3, 5, 5], %v: f32[20, 3, 3, 3]) -> (f32[B, 2, 28, 30], f32[B, 12, 5, 5], f64[B, 20, 3, 3], f32[B, 20, 28, 30]) {
    %0 = conv %x, @w : f32[B, 2, 28, 30]
    %1 = conv %y, @g {group = 3} : f32[B, 12, 5, 5]
    %2 = conv %z, @h : f64[B, 20, 3, 3]
    %3 = conv %x, %v : f32[B, 20, 28, 30]
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  weight @w : f32[2, 3, 3, 3] = splat(0.5)
  weight @g : f32[12, 3, 1, 1] = splat(0.5)
  weight @h : f64[20, 3, 3, 3] = splat(0.5)
  graph @main(%x: f32[B, 3, 30, 32], %y: f32[B, 9, 5, 5], %z: f64[B, 3, 5, 5], %v: f32[20, 3, 3, 3]) -> (f32[B, 2, 28, 30], f32[B, 12, 5, 5], f64[B, 20, 3, 3], f32[B, 20, 28, 30]) {
    %0 = conv %x, @w : f32[B, 2, 28, 30]
    %1 = conv %y, @g {group = 3} : f32[B, 12, 5, 5]
    %2 = conv %z, @h : f64[B, 20, 3, 3]
    %3 = conv %x, %v : f32[B, 20, 28, 30]
    ret %0, %1, %2, %3
  }
}
# ---- channels_last_narrow ----
# channels_last: a convolution of f16 with constant weights is one of f32 between casts.
# run: channels_last
# target: cpu:v3
module @m {
  weight @h : f16[20, 3, 3, 3] = splat(0.5)
  graph @main(%z: f16[B, 3, 5, 5]) -> (f16[B, 20, 3, 3]) {
    %0 = conv %z, @h : f16[B, 20, 3, 3]
    ret %0
  }
}
# expect:
module @m {
  weight @h : f16[20, 3, 3, 3] = splat(0.5)
  weight @h.value0.conv1 : f32[2, 27, 16] = recipe(0)
  graph @main(%z: f16[B, 3, 5, 5]) -> (f16[B, 20, 3, 3]) {
    %0 = cast %z {to = f32} : f32[B, 3, 5, 5]
    %1 = transpose %0 {perm = [0, 2, 3, 1]} : f32[B, 5, 5, 3]
    %2 = conv_panels %1, @h.value0.conv1 {kernel = [3, 3], columns = 20} : f32[B, 3, 3, 20]
    %3 = cast %2 {to = f16} : f16[B, 3, 3, 20]
    %4 = transpose %3 {perm = [0, 3, 1, 2]} : f16[B, 20, 3, 3]
    ret %4
  }
  private graph @weights() -> (f32[2, 27, 16]) {
    %0 = cast @h {to = f32} : f32[20, 3, 3, 3]
    %1 = reshape %0 {to = [1, 20, 3, 3, 3]} : f32[1, 20, 3, 3, 3]
    %2 = const {value = 0} : f32[]
    %3 = pad %1, %2 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 3, 3, 3]
    %4 = reshape %3 {to = [2, 16, 3, 3, 3]} : f32[2, 16, 3, 3, 3]
    %5 = transpose %4 {perm = [0, 3, 4, 2, 1]} : f32[2, 3, 3, 3, 16]
    %6 = reshape %5 {to = [2, 27, 16]} : f32[2, 27, 16]
    ret %6
  }
}
