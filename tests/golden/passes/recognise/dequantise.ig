# ---- forms ----
# recognise_dequantise: the orders, dtypes and transposes that exporters write; a zero
# point or a scale may be absent.
# run: recognise_dequantise,dce
module @m {
  weight @w : i8[3, 4] = splat(-3)
  weight @u : u8[4, 3] = splat(200)
  weight @column : f32[3] = splat(0.3)
  weight @row : f32[4, 1] = splat(0.7)
  weight @zeros : u8[3] = splat(128)
  graph @scale_only(%x: f32[B, 3]) -> (f32[B, 4]) {
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = mul %s, %0 : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @difference_of_integers(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = 128} : i32[]
    %0 = cast @u {to = i32} : i32[4, 3]
    %1 = sub %0, %z : i32[4, 3]
    %2 = cast %1 {to = f32} : f32[4, 3]
    %3 = mul %2, @row : f32[4, 3]
    %4 = matmul %x, %3 {transpose_b} : f32[B, 4]
    ret %4
  }
  graph @zero_of_bytes(%x: f32[B, 4]) -> (f32[B, 3]) {
    %0 = cast @u {to = i16} : i16[4, 3]
    %1 = cast @zeros {to = i16} : i16[3]
    %2 = sub %0, %1 : i16[4, 3]
    %3 = cast %2 {to = f32} : f32[4, 3]
    %4 = mul %3, @column : f32[4, 3]
    %5 = matmul %x, %4 : f32[B, 3]
    ret %5
  }
  graph @transposes(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = [1.0, 2.0, 255.0]} : f32[3]
    %s = const {value = [0.1, 0.2, 0.3, 0.4]} : f32[4]
    %0 = cast @u {to = f32} : f32[4, 3]
    %1 = sub %0, %z : f32[4, 3]
    %2 = transpose %1 {perm = [1, 0]} : f32[3, 4]
    %3 = mul %2, %s : f32[3, 4]
    %4 = transpose %3 {perm = [1, 0]} : f32[4, 3]
    %5 = transpose %4 {perm = [1, 0]} : f32[3, 4]
    %6 = matmul %x, %5 : f32[B, 4]
    ret %6
  }
  graph @difference_only(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = [1, -2, 3, 127]} : i32[4]
    %0 = cast @w {to = i32} : i32[3, 4]
    %1 = sub %0, %z : i32[3, 4]
    %2 = cast %1 {to = f32} : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @cast_only(%x: f32[B, 4]) -> (f32[B, 3]) {
    %0 = cast @u {to = f32} : f32[4, 3]
    %1 = matmul %x, %0 : f32[B, 3]
    ret %1
  }
}
# expect:
module @m {
  weight @w : i8[3, 4] = splat(-3)
  weight @u : u8[4, 3] = splat(200)
  weight @column : f32[3] = splat(0.3)
  weight @row : f32[4, 1] = splat(0.7)
  weight @zeros : u8[3] = splat(128)
  weight @zero : u8[3, 1] = [1, 2, 255]
  graph @scale_only(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 0.3} : f32[]
    %1 = dequantize @w, %0 : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @difference_of_integers(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 128} : u8[]
    %1 = dequantize @u, @row, %0 : f32[4, 3]
    %2 = matmul %x, %1 {transpose_b} : f32[B, 4]
    ret %2
  }
  graph @zero_of_bytes(%x: f32[B, 4]) -> (f32[B, 3]) {
    %0 = dequantize @u, @column, @zeros : f32[4, 3]
    %1 = matmul %x, %0 : f32[B, 3]
    ret %1
  }
  graph @transposes(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = [0.1, 0.2, 0.3, 0.4]} : f32[4]
    %1 = transpose @u {perm = [1, 0]} : u8[3, 4]
    %2 = dequantize %1, %0, @zero : f32[3, 4]
    %3 = transpose %2 {perm = [1, 0]} : f32[4, 3]
    %4 = transpose %3 {perm = [1, 0]} : f32[3, 4]
    %5 = matmul %x, %4 : f32[B, 4]
    ret %5
  }
  graph @difference_only(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = [1, -2, 3, 127]} : i8[4]
    %1 = const {value = 1} : f32[]
    %2 = dequantize @w, %1, %0 : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @cast_only(%x: f32[B, 4]) -> (f32[B, 3]) {
    %0 = const {value = 1} : f32[]
    %1 = dequantize @u, %0 : f32[4, 3]
    %2 = matmul %x, %1 : f32[B, 3]
    ret %2
  }
}
# ---- near_misses ----
# recognise_dequantise: no product, differences that wrap or round, zero points beyond
# the weight's dtype, computed ones, a scale for each element, wider products, weights
# that are not constant: all stay as they are.
# run: recognise_dequantise,dce
module @m {
  weight @w : i8[3, 4] = splat(-3)
  weight @wide : i16[3, 4] = splat(-3)
  weight @matrix : f32[3, 4] = splat(0.3)
  graph @no_product() -> (f32[3, 4]) {
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = mul %0, %s : f32[3, 4]
    ret %1
  }
  graph @left_factor(%x: f32[4, B]) -> (f32[3, B]) {
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = mul %0, %s : f32[3, 4]
    %2 = matmul %1, %x : f32[3, B]
    ret %2
  }
  graph @difference_of_bytes(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = 127} : i8[]
    %s = const {value = 0.3} : f32[]
    %0 = sub @w, %z : i8[3, 4]
    %1 = cast %0 {to = f32} : f32[3, 4]
    %2 = mul %1, %s : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @zero_beyond(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = 128} : i32[]
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = i32} : i32[3, 4]
    %1 = sub %0, %z : i32[3, 4]
    %2 = cast %1 {to = f32} : f32[3, 4]
    %3 = mul %2, %s : f32[3, 4]
    %4 = matmul %x, %3 : f32[B, 4]
    ret %4
  }
  graph @zero_with_a_fraction(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = 0.5} : f32[]
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = sub %0, %z : f32[3, 4]
    %2 = mul %1, %s : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @zero_computed(%x: f32[B, 3], %z: i8[4]) -> (f32[B, 4]) {
    %s = const {value = 0.3} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = cast %z {to = f32} : f32[4]
    %2 = sub %0, %1 : f32[3, 4]
    %3 = mul %2, %s : f32[3, 4]
    %4 = matmul %x, %3 : f32[B, 4]
    ret %4
  }
  graph @zero_twice(%x: f32[B, 3]) -> (f32[B, 4]) {
    %z = const {value = 1.0} : f32[]
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = sub %0, %z : f32[3, 4]
    %2 = sub %1, %z : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @scale_of_each_element(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = mul %0, @matrix : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @product_of_f64(%x: f64[B, 3]) -> (f64[B, 4]) {
    %s = const {value = 0.3} : f64[]
    %0 = cast @w {to = f64} : f64[3, 4]
    %1 = mul %0, %s : f64[3, 4]
    %2 = matmul %x, %1 : f64[B, 4]
    ret %2
  }
  graph @cast_that_rounds(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @w {to = f16} : f16[3, 4]
    %1 = cast %0 {to = f32} : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @weight_of_words(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @wide {to = f32} : f32[3, 4]
    %1 = matmul %x, %0 : f32[B, 4]
    ret %1
  }
  graph @no_weight(%x: f32[B, 3], %w: i8[3, 4]) -> (f32[B, 4]) {
    %s = const {value = 0.3} : f32[]
    %0 = cast %w {to = f32} : f32[3, 4]
    %1 = mul %0, %s : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @difference_of_a_constant(%x: f32[B, 3], %z: f32[1, 4]) -> (f32[B, 4]) {
    %c = const {value = splat(0.3)} : f32[3, 4]
    %0 = sub %c, %z : f32[3, 4]
    %1 = matmul %x, %0 : f32[B, 4]
    ret %1
  }
  graph @product_of_a_constant(%x: f32[B, 3], %s: f32[]) -> (f32[B, 4]) {
    %c = const {value = splat(0.3)} : f32[3, 4]
    %0 = mul %c, %s : f32[3, 4]
    %1 = matmul %x, %0 : f32[B, 4]
    ret %1
  }
}
# expect:
module @m {
  weight @w : i8[3, 4] = splat(-3)
  weight @wide : i16[3, 4] = splat(-3)
  weight @matrix : f32[3, 4] = splat(0.3)
  graph @no_product() -> (f32[3, 4]) {
    %0 = const {value = 0.3} : f32[]
    %1 = cast @w {to = f32} : f32[3, 4]
    %2 = mul %1, %0 : f32[3, 4]
    ret %2
  }
  graph @left_factor(%x: f32[4, B]) -> (f32[3, B]) {
    %0 = const {value = 0.3} : f32[]
    %1 = cast @w {to = f32} : f32[3, 4]
    %2 = mul %1, %0 : f32[3, 4]
    %3 = matmul %2, %x : f32[3, B]
    ret %3
  }
  graph @difference_of_bytes(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 127} : i8[]
    %1 = const {value = 0.3} : f32[]
    %2 = sub @w, %0 : i8[3, 4]
    %3 = cast %2 {to = f32} : f32[3, 4]
    %4 = mul %3, %1 : f32[3, 4]
    %5 = matmul %x, %4 : f32[B, 4]
    ret %5
  }
  graph @zero_beyond(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 128} : i32[]
    %1 = const {value = 0.3} : f32[]
    %2 = cast @w {to = i32} : i32[3, 4]
    %3 = sub %2, %0 : i32[3, 4]
    %4 = cast %3 {to = f32} : f32[3, 4]
    %5 = mul %4, %1 : f32[3, 4]
    %6 = matmul %x, %5 : f32[B, 4]
    ret %6
  }
  graph @zero_with_a_fraction(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 0.5} : f32[]
    %1 = const {value = 0.3} : f32[]
    %2 = cast @w {to = f32} : f32[3, 4]
    %3 = sub %2, %0 : f32[3, 4]
    %4 = mul %3, %1 : f32[3, 4]
    %5 = matmul %x, %4 : f32[B, 4]
    ret %5
  }
  graph @zero_computed(%x: f32[B, 3], %z: i8[4]) -> (f32[B, 4]) {
    %0 = const {value = 0.3} : f32[]
    %1 = cast @w {to = f32} : f32[3, 4]
    %2 = cast %z {to = f32} : f32[4]
    %3 = sub %1, %2 : f32[3, 4]
    %4 = mul %3, %0 : f32[3, 4]
    %5 = matmul %x, %4 : f32[B, 4]
    ret %5
  }
  graph @zero_twice(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = const {value = 1} : f32[]
    %1 = cast @w {to = f32} : f32[3, 4]
    %2 = sub %1, %0 : f32[3, 4]
    %3 = sub %2, %0 : f32[3, 4]
    %4 = matmul %x, %3 : f32[B, 4]
    ret %4
  }
  graph @scale_of_each_element(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @w {to = f32} : f32[3, 4]
    %1 = mul %0, @matrix : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @product_of_f64(%x: f64[B, 3]) -> (f64[B, 4]) {
    %0 = const {value = 0.3} : f64[]
    %1 = cast @w {to = f64} : f64[3, 4]
    %2 = mul %1, %0 : f64[3, 4]
    %3 = matmul %x, %2 : f64[B, 4]
    ret %3
  }
  graph @cast_that_rounds(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @w {to = f16} : f16[3, 4]
    %1 = cast %0 {to = f32} : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @weight_of_words(%x: f32[B, 3]) -> (f32[B, 4]) {
    %0 = cast @wide {to = f32} : f32[3, 4]
    %1 = matmul %x, %0 : f32[B, 4]
    ret %1
  }
  graph @no_weight(%x: f32[B, 3], %w: i8[3, 4]) -> (f32[B, 4]) {
    %0 = const {value = 0.3} : f32[]
    %1 = cast %w {to = f32} : f32[3, 4]
    %2 = mul %1, %0 : f32[3, 4]
    %3 = matmul %x, %2 : f32[B, 4]
    ret %3
  }
  graph @difference_of_a_constant(%x: f32[B, 3], %z: f32[1, 4]) -> (f32[B, 4]) {
    %0 = const {value = splat(0.3)} : f32[3, 4]
    %1 = sub %0, %z : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
  graph @product_of_a_constant(%x: f32[B, 3], %s: f32[]) -> (f32[B, 4]) {
    %0 = const {value = splat(0.3)} : f32[3, 4]
    %1 = mul %0, %s : f32[3, 4]
    %2 = matmul %x, %1 : f32[B, 4]
    ret %2
  }
}
