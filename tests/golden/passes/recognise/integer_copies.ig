# recognise_integer: what moves or chooses dequantised bytes works on the bytes, and what
# is quantised as it was before are those bytes; parts of a concat are quantised each for
# itself.  Other scales, averages, windows that may see nothing, and computed scales stay.
# run: recognise_integer,dce
module @m {
  graph @main(%x: u8[B, 4, 8, 8], %y: u8[B, 2, 4, 4]) -> (u8[B, 4, 4, 4], u8[B, 64], u8[B, 6, 4, 4]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %4 = pool %3 {op = max, kernel = [3, 3], strides = [2, 2], before = [1, 1], after = [0, 0]} : f32[B, 4, 4, 4]
    %5 = quantize %4, %0, %1 {to = u8} : u8[B, 4, 4, 4]
    %6 = reshape %4 {to = [B, 64]} : f32[B, 64]
    %7 = quantize %6, %0, %1 {to = u8} : u8[B, 64]
    %8 = dequantize %y, %2, %1 : f32[B, 2, 4, 4]
    %9 = concat %4, %8 {axis = 1} : f32[B, 6, 4, 4]
    %10 = quantize %9, %2, %1 {to = u8} : u8[B, 6, 4, 4]
    ret %5, %7, %10
  }
  graph @stays(%x: u8[B, 4, 8, 8], %s: f32[]) -> (f32[B, 4, 7, 7], f32[B, 4, 8, 8], u8[B, 4, 8, 8], u8[B, 4, 64], f32[B, 4, 6, 6]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = const {value = -0.5} : f32[]
    %4 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %5 = pool %4 {op = average, kernel = [2, 2]} : f32[B, 4, 7, 7]
    %6 = dequantize %x, %3, %1 : f32[B, 4, 8, 8]
    %7 = pool %6 {op = max, kernel = [1, 1]} : f32[B, 4, 8, 8]
    %8 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 8, 8]
    %9 = dequantize %x, %s, %1 : f32[B, 4, 8, 8]
    %10 = reshape %9 {to = [B, 4, 64]} : f32[B, 4, 64]
    %11 = quantize %10, %s, %1 {to = u8} : u8[B, 4, 64]
    %12 = pool %4 {op = max, kernel = [3, 3], dilations = [2, 2], before = [1, 1], after = [1, 1]} : f32[B, 4, 6, 6]
    ret %5, %7, %8, %11, %12
  }
  graph @rounded_up(%x: u8[B, 4, 8, 7]) -> (u8[B, 4, 4, 3]) {
    %0 = const {value = 0.25} : f32[]
    %1 = dequantize %x, %0 : f32[B, 4, 8, 7]
    %2 = pool %1 {op = max, kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [0, 0], ceil_mode} : f32[B, 4, 4, 3]
    %3 = quantize %2, %0 {to = u8} : u8[B, 4, 4, 3]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: u8[B, 4, 8, 8], %y: u8[B, 2, 4, 4]) -> (u8[B, 4, 4, 4], u8[B, 64], u8[B, 6, 4, 4]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = pool %x {op = max, kernel = [3, 3], strides = [2, 2], before = [1, 1], after = [0, 0]} : u8[B, 4, 4, 4]
    %4 = dequantize %3, %0, %1 : f32[B, 4, 4, 4]
    %5 = reshape %3 {to = [B, 64]} : u8[B, 64]
    %6 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 4, 4]
    %7 = concat %6, %y {axis = 1} : u8[B, 6, 4, 4]
    ret %3, %5, %7
  }
  graph @stays(%x: u8[B, 4, 8, 8], %s: f32[]) -> (f32[B, 4, 7, 7], f32[B, 4, 8, 8], u8[B, 4, 8, 8], u8[B, 4, 64], f32[B, 4, 6, 6]) {
    %0 = const {value = 0.25} : f32[]
    %1 = const {value = 128} : u8[]
    %2 = const {value = 0.5} : f32[]
    %3 = const {value = -0.5} : f32[]
    %4 = dequantize %x, %0, %1 : f32[B, 4, 8, 8]
    %5 = pool %4 {op = average, kernel = [2, 2]} : f32[B, 4, 7, 7]
    %6 = dequantize %x, %3, %1 : f32[B, 4, 8, 8]
    %7 = pool %6 {op = max, kernel = [1, 1]} : f32[B, 4, 8, 8]
    %8 = quantize %4, %2, %1 {to = u8} : u8[B, 4, 8, 8]
    %9 = dequantize %x, %s, %1 : f32[B, 4, 8, 8]
    %10 = reshape %9 {to = [B, 4, 64]} : f32[B, 4, 64]
    %11 = quantize %10, %s, %1 {to = u8} : u8[B, 4, 64]
    %12 = pool %4 {op = max, kernel = [3, 3], dilations = [2, 2], before = [1, 1], after = [1, 1]} : f32[B, 4, 6, 6]
    ret %5, %7, %8, %11, %12
  }
  graph @rounded_up(%x: u8[B, 4, 8, 7]) -> (u8[B, 4, 4, 3]) {
    %0 = pool %x {op = max, kernel = [3, 3], strides = [2, 2], before = [0, 0], after = [0, 0], ceil_mode} : u8[B, 4, 4, 3]
    ret %0
  }
}
