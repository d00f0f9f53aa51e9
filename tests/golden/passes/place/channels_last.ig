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
# channels_last: zeros go into the convolution where a tap has channels enough; those of few channels, and of windows of more than 64 taps, stay.
# run: channels_last,canonicalise,dce
# values: x plain
# values: y plain
# target: cpu:v3
module @m {
  weight @w : f32[20, 16, 3, 3] = splat(0.5)
  weight @f : f32[20, 15, 3, 3] = splat(0.5)
  weight @m : f32[20, 16, 13, 5] = splat(0.5)
  weight @l : f32[20, 16, 8, 8] = splat(0.5)
  graph @main(%x: f32[B, 16, H, W], %y: f32[B, 15, H, W]) -> (f32[B, 20, H, W], f32[B, 20, H, W], f32[B, 20, H, W], f32[B, 20, H, W]) {
    %0 = pad %x {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 16, H + 2, W + 2]
    %1 = conv %0, @w : f32[B, 20, H, W]
    %2 = pad %y {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 15, H + 2, W + 2]
    %3 = conv %2, @f : f32[B, 20, H, W]
    %4 = pad %x {before = [0, 0, 6, 2], after = [0, 0, 6, 2]} : f32[B, 16, H + 12, W + 4]
    %5 = conv %4, @m : f32[B, 20, H, W]
    %6 = pad %x {before = [0, 0, 3, 4], after = [0, 0, 4, 3]} : f32[B, 16, H + 7, W + 7]
    %7 = conv %6, @l : f32[B, 20, H, W]
    ret %1, %3, %5, %7
  }
}
# expect:
module @m {
  weight @w : f32[20, 16, 3, 3] = splat(0.5)
  weight @f : f32[20, 15, 3, 3] = splat(0.5)
  weight @m : f32[20, 16, 13, 5] = splat(0.5)
  weight @l : f32[20, 16, 8, 8] = splat(0.5)
  weight @w.conv1 : f32[2, 144, 16] = recipe(0)
  weight @f.conv1 : f32[2, 135, 16] = recipe(1)
  weight @m.conv1 : f32[2, 1040, 16] = recipe(2)
  weight @l.conv1 : f32[2, 1024, 16] = recipe(3)
  graph @main(%x: f32[B, 16, H, W], %y: f32[B, 15, H, W]) -> (f32[B, 20, H, W], f32[B, 20, H, W], f32[B, 20, H, W], f32[B, 20, H, W]) {
    %0 = transpose %x {perm = [0, 2, 3, 1]} : f32[B, H, W, 16]
    %1 = conv_panels %0, @w.conv1 {kernel = [3, 3], columns = 20, before = [1, 1], after = [1, 1]} : f32[B, H, W, 20]
    %2 = transpose %1 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    %3 = pad %y {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : f32[B, 15, H + 2, W + 2]
    %4 = transpose %3 {perm = [0, 2, 3, 1]} : f32[B, H + 2, W + 2, 15]
    %5 = conv_panels %4, @f.conv1 {kernel = [3, 3], columns = 20} : f32[B, H, W, 20]
    %6 = transpose %5 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    %7 = pad %x {before = [0, 0, 6, 2], after = [0, 0, 6, 2]} : f32[B, 16, H + 12, W + 4]
    %8 = transpose %7 {perm = [0, 2, 3, 1]} : f32[B, H + 12, W + 4, 16]
    %9 = conv_panels %8, @m.conv1 {kernel = [13, 5], columns = 20} : f32[B, H, W, 20]
    %10 = transpose %9 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    %11 = transpose %x {perm = [0, 2, 3, 1]} : f32[B, H, W, 16]
    %12 = conv_panels %11, @l.conv1 {kernel = [8, 8], columns = 20, before = [3, 4], after = [4, 3]} : f32[B, H, W, 20]
    %13 = transpose %12 {perm = [0, 3, 1, 2]} : f32[B, 20, H, W]
    ret %2, %6, %10, %13
  }
  private graph @weights() -> (f32[2, 144, 16], f32[2, 135, 16], f32[2, 1040, 16], f32[2, 1024, 16]) {
    %0 = reshape @w {to = [1, 20, 16, 3, 3]} : f32[1, 20, 16, 3, 3]
    %1 = const {value = 0} : f32[]
    %2 = pad %0, %1 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 16, 3, 3]
    %3 = reshape %2 {to = [2, 16, 16, 3, 3]} : f32[2, 16, 16, 3, 3]
    %4 = transpose %3 {perm = [0, 3, 4, 2, 1]} : f32[2, 3, 3, 16, 16]
    %5 = reshape %4 {to = [2, 144, 16]} : f32[2, 144, 16]
    %6 = reshape @f {to = [1, 20, 15, 3, 3]} : f32[1, 20, 15, 3, 3]
    %7 = const {value = 0} : f32[]
    %8 = pad %6, %7 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 15, 3, 3]
    %9 = reshape %8 {to = [2, 16, 15, 3, 3]} : f32[2, 16, 15, 3, 3]
    %10 = transpose %9 {perm = [0, 3, 4, 2, 1]} : f32[2, 3, 3, 15, 16]
    %11 = reshape %10 {to = [2, 135, 16]} : f32[2, 135, 16]
    %12 = reshape @m {to = [1, 20, 16, 13, 5]} : f32[1, 20, 16, 13, 5]
    %13 = const {value = 0} : f32[]
    %14 = pad %12, %13 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 16, 13, 5]
    %15 = reshape %14 {to = [2, 16, 16, 13, 5]} : f32[2, 16, 16, 13, 5]
    %16 = transpose %15 {perm = [0, 3, 4, 2, 1]} : f32[2, 13, 5, 16, 16]
    %17 = reshape %16 {to = [2, 1040, 16]} : f32[2, 1040, 16]
    %18 = reshape @l {to = [1, 20, 16, 8, 8]} : f32[1, 20, 16, 8, 8]
    %19 = const {value = 0} : f32[]
    %20 = pad %18, %19 {before = [0, 0, 0, 0, 0], after = [0, 12, 0, 0, 0]} : f32[1, 32, 16, 8, 8]
    %21 = reshape %20 {to = [2, 16, 16, 8, 8]} : f32[2, 16, 16, 8, 8]
    %22 = transpose %21 {perm = [0, 3, 4, 2, 1]} : f32[2, 8, 8, 16, 16]
    %23 = reshape %22 {to = [2, 1024, 16]} : f32[2, 1024, 16]
    ret %5, %11, %17, %23
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
