# Kernel form: every op that only kernels have, and shared ones on vectors.
# run:
module @kernel {
  kernel @k(%x: &f32, %y: &f32, %q: &i8, %n: i64, %m: i64) {
    %0, %1 = tiles : i64, i64
    %2 = local {count = 64} : &f32
    %3 = shared {count = 128} : &f32
    %4 = scratch {offset = 0} : &f64
    %5 = thread : i64
    %6 = const {value = 1} : i64
    %7 = const {value = [0, 1, 2, 3]} : i64<4>
    %8 = iota : i64<4>
    %9 = splat %n : i64<4>
    %10 = mul %8, %9
    %11 = load_at %x, %10 : f32<4>
    %12 = const {value = 0} : f32
    for %0, %1, %6 {unroll = 4} (%i: i64) {
      %13 = load %x, %i, %n {invariant} : f32<4>
      %14 = muladd %13, %11, %13 : f32<4>
      %15 = for %0, %n, %6, %14 : f32<4> (%j: i64, %s: f32<4>) {
        %16 = offset %x, %j : &f32
        %17 = load %16, %i : f32<4>
        %18 = max %17, %s
        prefetch %x, %j {level = 2}
        yield %18
      }
      %19 = shuffle %15, %14 {lanes = [0, 4, 1, 5]} : f32<4>
      %20 = hreduce %19 {op = max} : f32
      %21 = extract %19, %6 : f32
      %22 = add %20, %21
      store %19, %y, %i, %n
      store %22, %2, %i
      yield
    }
    barrier
    %23 = buffer_at %x, %n : &f32
    %24 = param_at %n, %n : i64
    %25 = reinterpret %q : &u8
    %26 = load %q, %24 : i8
    %27 = cast %26 {to = f32}
    %28 = reinterpret %27 : u32
    %29 = gt %27, %12
    if %29 {
      report %6, %24, %n
      yield
    } else {
      yield
    }
    %30 = load %q, %24 : i8<8>
    %31 = reinterpret %30 : u8<8>
    %32 = reinterpret %30 : i32<2>
    %33 = dot4 %31, %30, %32 : i32<2>
    %34 = reinterpret %30 : i16<4>
    %35 = dot2 %31, %30, %34 : i16<4>
    %36 = add_pairs %35, %32 : i32<2>
    %37 = reinterpret %2 : &i32
    dot4_block %25, %24, %q, %24, %37, %6, %n, %m {panels = 4, adds}
    ret
  }
}
# expect:
module @kernel {
  kernel @k(
      %x: &f32,
      %y: &f32,
      %q: &i8,
      %n: i64,
      %m: i64) {
    %0, %1 = tiles : i64, i64
    %2 = local {count = 64} : &f32
    %3 = shared {count = 128} : &f32
    %4 = scratch {offset = 0} : &f64
    %5 = thread : i64
    %6 = const {value = 1} : i64
    %7 = const {value = [0, 1, 2, 3]} : i64<4>
    %8 = iota : i64<4>
    %9 = splat %n : i64<4>
    %10 = mul %8, %9 : i64<4>
    %11 = load_at %x, %10 : f32<4>
    %12 = const {value = 0} : f32
    for %0, %1, %6 {unroll = 4} (%i: i64) {
      %13 = load %x, %i, %n {invariant} : f32<4>
      %14 = muladd %13, %11, %13 : f32<4>
      %15 = for %0, %n, %6, %14 : f32<4> (%j: i64, %s: f32<4>) {
        %16 = offset %x, %j : &f32
        %17 = load %16, %i : f32<4>
        %18 = max %17, %s : f32<4>
        prefetch %x, %j {level = 2}
        yield %18
      }
      %19 = shuffle %15, %14 {lanes = [0, 4, 1, 5]} : f32<4>
      %20 = hreduce %19 {op = max} : f32
      %21 = extract %19, %6 : f32
      %22 = add %20, %21 : f32
      store %19, %y, %i, %n
      store %22, %2, %i
      yield
    }
    barrier
    %23 = buffer_at %x, %n : &f32
    %24 = param_at %n, %n : i64
    %25 = reinterpret %q : &u8
    %26 = load %q, %24 : i8
    %27 = cast %26 {to = f32} : f32
    %28 = reinterpret %27 : u32
    %29 = gt %27, %12 : bool
    if %29 {
      report %6, %24, %n
      yield
    } else {
      yield
    }
    %30 = load %q, %24 : i8<8>
    %31 = reinterpret %30 : u8<8>
    %32 = reinterpret %30 : i32<2>
    %33 = dot4 %31, %30, %32 : i32<2>
    %34 = reinterpret %30 : i16<4>
    %35 = dot2 %31, %30, %34 : i16<4>
    %36 = add_pairs %35, %32 : i32<2>
    %37 = reinterpret %2 : &i32
    dot4_block %25, %24, %q, %24, %37, %6, %n, %m {panels = 4, adds}
    ret
  }
}
