# ---- bias_of_norm ----
# bias_of_norm: an addend of the normalised axes joins a norm that has a scale.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 2, epsilon = 0.5}
    %1 = add %0, %bias
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale, %bias {axis = 2, epsilon = 0.5} : f32[B, 3, 8]
    ret %0
  }
}
# ---- layer_norm ----
# recognise_norm: mean and variance over the last axes, in the spellings of exporters.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @by_root(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [-1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [-1], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    %7 = mul %6, %scale
    %8 = add %7, %bias
    ret %8
  }
  graph @by_reciprocal(%x: f32[B, 3, 8], %scale: f32[1, 1, 8], %bias: f32[1]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = [1e-05]} : f32[1]
    %two = const {value = 2.0} : f32[]
    %0 = reduce %x {op = mean, axes = [2], keep}
    %1 = sub %x, %0
    %2 = pow %1, %two
    %3 = reduce %2 {op = mean, axes = [2], keep}
    %4 = add %epsilon, %3
    %5 = rsqrt %4
    %6 = mul %5, %1
    %7 = mul %scale, %6
    %8 = add %bias, %7
    ret %8
  }
  graph @two_axes(%x: f64[B, 3, 8], %scale: f64[3, 8]) -> (f64[B, 3, 8]) {
    %epsilon = const {value = 0.001} : f64[]
    %one = const {value = 1.0} : f64[]
    %0 = reduce %x {op = mean, axes = [2, 1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [1, 2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %one, %5
    %7 = mul %1, %6
    %8 = mul %7, %scale
    ret %8
  }
}
# expect:
module @m {
  graph @by_root(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale, %bias {axis = 2, epsilon = 9.999999747378752e-06} : f32[B, 3, 8]
    ret %0
  }
  graph @by_reciprocal(%x: f32[B, 3, 8], %scale: f32[1, 1, 8], %bias: f32[1]) -> (f32[B, 3, 8]) {
    %0 = reshape %scale {to = [8]} : f32[8]
    %1 = layer_norm %x, %0, %bias {axis = 2, epsilon = 9.999999747378752e-06} : f32[B, 3, 8]
    ret %1
  }
  graph @two_axes(%x: f64[B, 3, 8], %scale: f64[3, 8]) -> (f64[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 1, epsilon = 0.001} : f64[B, 3, 8]
    ret %0
  }
}
# ---- near_misses ----
# recognise_norm: epsilon outside of the root, a first axis, a sum, a mean over other axes than that of the squares, f16, a
# scale along another axis, a variance that is used: these stay.
# within: 1e-6 a norm rounds its result alone
# run: recognise_norm,dce
module @m {
  graph @epsilon_outside(%x: f32[B, 8]) -> (f32[B, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [1], keep}
    %4 = sqrt %3
    %5 = add %4, %epsilon
    %6 = div %1, %5
    ret %6
  }
  graph @first_axis(%x: f32[4, 8]) -> (f32[4, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [0], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [0], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6
  }
  graph @sum(%x: f32[B, 8]) -> (f32[B, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = mul %x, %x
    %1 = reduce %0 {axes = [1], keep}
    %2 = add %1, %epsilon
    %3 = rsqrt %2
    %4 = mul %x, %3
    ret %4
  }
  graph @narrow(%x: f16[B, 8]) -> (f16[B, 8]) {
    %epsilon = const {value = 1e-05} : f16[]
    %0 = mul %x, %x
    %1 = reduce %0 {op = mean, axes = [1], keep}
    %2 = add %1, %epsilon
    %3 = rsqrt %2
    %4 = mul %x, %3
    ret %4
  }
  graph @scale_of_rows(%x: f32[4, 8], %scale: f32[4, 1]) -> (f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05}
    %1 = mul %0, %scale
    ret %1
  }
  graph @norm_used_twice(%x: f32[4, 8], %scale: f32[8]) -> (f32[4, 8], f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05}
    %1 = mul %0, %scale
    ret %0, %1
  }
  graph @bias_alone(%x: f32[4, 8], %bias: f32[8]) -> (f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05}
    %1 = add %0, %bias
    ret %1
  }
  graph @variance_is_used(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 1]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [1], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [1], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6, %3
  }
  graph @mean_of_more(%x: f32[2, 4, 8]) -> (f32[2, 4, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [1, 2], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6
  }
  graph @squares_of_more(%x: f32[2, 4, 8]) -> (f32[2, 4, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [2], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [1, 2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6
  }
}
# expect:
module @m {
  graph @epsilon_outside(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 1e-05} : f32[]
    %1 = reduce %x {op = mean, axes = [1], keep} : f32[B, 1]
    %2 = sub %x, %1 : f32[B, 8]
    %3 = mul %2, %2 : f32[B, 8]
    %4 = reduce %3 {op = mean, axes = [1], keep} : f32[B, 1]
    %5 = sqrt %4 : f32[B, 1]
    %6 = add %5, %0 : f32[B, 1]
    %7 = div %2, %6 : f32[B, 8]
    ret %7
  }
  graph @first_axis(%x: f32[4, 8]) -> (f32[4, 8]) {
    %0 = const {value = 1e-05} : f32[]
    %1 = reduce %x {op = mean, axes = [0], keep} : f32[1, 8]
    %2 = sub %x, %1 : f32[4, 8]
    %3 = mul %2, %2 : f32[4, 8]
    %4 = reduce %3 {op = mean, axes = [0], keep} : f32[1, 8]
    %5 = add %4, %0 : f32[1, 8]
    %6 = sqrt %5 : f32[1, 8]
    %7 = div %2, %6 : f32[4, 8]
    ret %7
  }
  graph @sum(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 1e-05} : f32[]
    %1 = mul %x, %x : f32[B, 8]
    %2 = reduce %1 {axes = [1], keep} : f32[B, 1]
    %3 = add %2, %0 : f32[B, 1]
    %4 = rsqrt %3 : f32[B, 1]
    %5 = mul %x, %4 : f32[B, 8]
    ret %5
  }
  graph @narrow(%x: f16[B, 8]) -> (f16[B, 8]) {
    %0 = const {value = 1.001358e-05} : f16[]
    %1 = mul %x, %x : f16[B, 8]
    %2 = reduce %1 {op = mean, axes = [1], keep} : f16[B, 1]
    %3 = add %2, %0 : f16[B, 1]
    %4 = rsqrt %3 : f16[B, 1]
    %5 = mul %x, %4 : f16[B, 8]
    ret %5
  }
  graph @scale_of_rows(%x: f32[4, 8], %scale: f32[4, 1]) -> (f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05} : f32[4, 8]
    %1 = mul %0, %scale : f32[4, 8]
    ret %1
  }
  graph @norm_used_twice(%x: f32[4, 8], %scale: f32[8]) -> (f32[4, 8], f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05} : f32[4, 8]
    %1 = mul %0, %scale : f32[4, 8]
    ret %0, %1
  }
  graph @bias_alone(%x: f32[4, 8], %bias: f32[8]) -> (f32[4, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 1e-05} : f32[4, 8]
    %1 = add %0, %bias : f32[4, 8]
    ret %1
  }
  graph @variance_is_used(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 1]) {
    %0 = const {value = 1e-05} : f32[]
    %1 = reduce %x {op = mean, axes = [1], keep} : f32[B, 1]
    %2 = sub %x, %1 : f32[B, 8]
    %3 = mul %2, %2 : f32[B, 8]
    %4 = reduce %3 {op = mean, axes = [1], keep} : f32[B, 1]
    %5 = add %4, %0 : f32[B, 1]
    %6 = sqrt %5 : f32[B, 1]
    %7 = div %2, %6 : f32[B, 8]
    ret %7, %4
  }
  graph @mean_of_more(%x: f32[2, 4, 8]) -> (f32[2, 4, 8]) {
    %0 = reduce %x {op = mean, axes = [1, 2], keep} : f32[2, 1, 1]
    %1 = sub %x, %0 : f32[2, 4, 8]
    %2 = layer_norm %1 {axis = 2, epsilon = 9.999999747378752e-06, rms} : f32[2, 4, 8]
    ret %2
  }
  graph @squares_of_more(%x: f32[2, 4, 8]) -> (f32[2, 4, 8]) {
    %0 = reduce %x {op = mean, axes = [2], keep} : f32[2, 4, 1]
    %1 = sub %x, %0 : f32[2, 4, 8]
    %2 = layer_norm %1 {axis = 1, epsilon = 9.999999747378752e-06, rms} : f32[2, 4, 8]
    ret %2
  }
}
# ---- rms ----
# recognise_norm: without the mean it is an RMS norm; so is a norm of centred values that
# have another use.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: scale plain
module @m {
  graph @rms(%x: f32[B, 3, 8], %scale: f32[8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-06} : f32[]
    %0 = mul %x, %x
    %1 = reduce %0 {op = mean, axes = [2], keep}
    %2 = add %1, %epsilon
    %3 = rsqrt %2
    %4 = mul %x, %3
    %5 = mul %scale, %4
    ret %5
  }
  graph @reciprocal_of_root(%x: f32[B, 3, 8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-06} : f32[]
    %0 = mul %x, %x
    %1 = reduce %0 {op = mean, axes = [2], keep}
    %2 = add %1, %epsilon
    %3 = sqrt %2
    %4 = recip %3
    %5 = mul %x, %4
    ret %5
  }
  graph @centred_is_used(%x: f32[B, 3, 8]) -> (f32[B, 3, 8], f32[B, 3, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [2], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6, %1
  }
}
# expect:
module @m {
  graph @rms(%x: f32[B, 3, 8], %scale: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 2, epsilon = 9.999999974752427e-07, rms} : f32[B, 3, 8]
    ret %0
  }
  graph @reciprocal_of_root(%x: f32[B, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x {axis = 2, epsilon = 9.999999974752427e-07, rms} : f32[B, 3, 8]
    ret %0
  }
  graph @centred_is_used(%x: f32[B, 3, 8]) -> (f32[B, 3, 8], f32[B, 3, 8]) {
    %0 = reduce %x {op = mean, axes = [2], keep} : f32[B, 3, 1]
    %1 = sub %x, %0 : f32[B, 3, 8]
    %2 = layer_norm %1 {axis = 2, epsilon = 9.999999747378752e-06, rms} : f32[B, 3, 8]
    ret %2, %1
  }
}
# ---- scale_of_norm ----
# scale_of_norm: a factor of the normalised axes joins the norm.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[1, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 0.5, rms}
    %1 = mul %scale, %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[1, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = reshape %scale {to = [3, 8]} : f32[3, 8]
    %1 = layer_norm %x, %0 {axis = 1, epsilon = 0.5, rms} : f32[B, 3, 8]
    ret %1
  }
}
