# Kernels: what each op takes and gives.
# run: verify
module @kernels {
  kernel @args(%n: i64, %x: &f32, %y: &f32[4], %z: f32) {
    ret
  }
  kernel @main(%x: &f32, %q: &i8, %n: i64) {
    %0 = load %x, %n : i32
    %1 = load %n, %n : i64
    %2 = load %x, %x : f32
    %3 = iota : i64<4>
    %4 = load_at %x, %3 : f32<8>
    %5 = load_at %x, %4 : f32<8>
    store %3, %x, %n
    %6 = offset %x, %n : &i8
    %7 = reinterpret %3 : f32<4>
    %8 = reinterpret %q : i8
    %9 = splat %3 : i64<8>
    %10 = iota : f32<4>
    %11 = muladd %3, %3, %n : i64<4>
    %12 = hreduce %3 : i32
    ret
  }
}
# expect-error: in 'args': argument 1: a kernel takes buffers, then i64 params
# expect-error: in 'args': argument 2: a kernel takes buffers, then i64 params
# expect-error: in 'args': argument 3: a kernel takes buffers, then i64 params
# expect-error: 8:10: the result is not of the buffer's elements
# expect-error: 9:10: operand 0 must be a buffer, not i64
# expect-error: 10:10: operand 1 must be an i64, not &f32
# expect-error: 12:10: as many lanes as indices
# expect-error: 13:10: operand 1 must be i64s, not f32<8>
# expect-error: 14:5: the value is not of the buffer's elements
# expect-error: 15:10: the result is a buffer of the same elements
# expect-error: 16:10: operand and result have as many bits
# expect-error: 17:10: a buffer stays a buffer
# expect-error: 18:10: operand 0 must be a scalar, not i64<4>
# expect-error: 19:11: iota counts in integers
# expect-error: 20:11: operands and result are of one type
# expect-error: 21:11: operand and result are of one element type
