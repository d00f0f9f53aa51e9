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
