# lower: a compute becomes a launch; extents that are not known are params; equal kernels are one.
# run: fuse,bufferise,lower
# target: cpu:v3
module @m {
  graph @main(%x: f32[B], %y: f32[C]) -> (f32[B] "o", f32[C] "p") {
    %0 = relu %x : f32[B]
    %1 = relu %y : f32[C]
    ret %0, %1
  }
}
# expect:
module @m {
  plan @main(%x: f32[B], %y: f32[C]) -> (&f32[B] "o", &f32[C] "p") {
    %0 = alloc : &f32[B]
    launch %x, %0 {kernel = @map_relu, outs = 1, grid = ceil(B / 4096), params = [ceil(B / 4096), B], cost = ceil(B / 4)}
    %1 = alloc : &f32[C]
    launch %y, %1 {kernel = @map_relu, outs = 1, grid = ceil(C / 4096), params = [ceil(C / 4096), C], cost = ceil(C / 4)}
    ret %0, %1
  }
  kernel @map_relu(%0: &f32, %1: &f32, %2: i64, %3: i64) {
    %4 = const {value = i64[] 1} : i64
    %5, %6 = tiles : i64, i64
    %7 = const {value = i64[] 1} : i64
    for %5, %6, %7 (%8: i64) {
      %9 = const {value = i64[] 1} : i64
      %10 = div %8, %2 : i64
      %11 = const {value = i64[] 4096} : i64
      %12 = mod %8, %2 : i64
      %13 = mul %12, %11 : i64
      %14 = const {value = i64[] 4096} : i64
      %15 = add %13, %14 : i64
      %16 = min %3, %15 : i64
      %17 = const {value = i64[] 1} : i64
      %18 = add %10, %17 : i64
      %19 = min %4, %18 : i64
      %20 = const {value = i64[] 1} : i64
      for %10, %19, %20 (%21: i64) {
        %22 = const {value = i64[] 8} : i64
        %23 = sub %16, %13 : i64
        %24 = div %23, %22 : i64
        %25 = mul %24, %22 : i64
        %26 = add %13, %25 : i64
        for %13, %26, %22 (%27: i64) {
          %28 = const {value = i64[] 0} : i64
          %29 = load %0, %27 : f32<8>
          %30 = relu %29 : f32<8>
          %31 = const {value = i64[] 0} : i64
          store %30, %1, %27
          yield
        }
        %32 = lt %26, %16 : bool
        if %32 {
          %33 = sub %16, %26 : i64
          %34 = const {value = i64[] 0} : i64
          %35 = load %0, %26, %33 : f32<8>
          %36 = relu %35 : f32<8>
          %37 = const {value = i64[] 0} : i64
          store %36, %1, %26, %33
          yield
        } else {
          yield
        }
        yield
      }
      yield
    }
    ret
  }
}
