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
    %5 = const {value = i64[] 1} : i64
    %6 = const {value = i64[] 1} : i64
    %7 = const {value = i64[] 1} : i64
    %8 = const {value = i64[] 1} : i64
    %9, %10 = tiles : i64, i64
    %11 = const {value = i64[] 1} : i64
    for %9, %10, %11 (%12: i64) {
      %13 = const {value = i64[] 1} : i64
      %14 = div %12, %2 : i64
      %15 = const {value = i64[] 4096} : i64
      %16 = mod %12, %2 : i64
      %17 = mul %16, %15 : i64
      %18 = const {value = i64[] 4096} : i64
      %19 = add %17, %18 : i64
      %20 = min %3, %19 : i64
      %21 = const {value = i64[] 1} : i64
      %22 = add %14, %21 : i64
      %23 = min %8, %22 : i64
      %24 = const {value = i64[] 1} : i64
      for %14, %23, %24 (%25: i64) {
        %26 = const {value = i64[] 8} : i64
        %27 = sub %20, %17 : i64
        %28 = div %27, %26 : i64
        %29 = mul %28, %26 : i64
        %30 = add %17, %29 : i64
        for %17, %30, %26 (%31: i64) {
          %32 = const {value = i64[] 0} : i64
          %33 = load %0, %31 : f32<8>
          %34 = relu %33 : f32<8>
          %35 = const {value = i64[] 0} : i64
          store %34, %1, %31
          yield
        }
        %36 = lt %30, %20 : bool
        if %36 {
          %37 = sub %20, %30 : i64
          %38 = const {value = i64[] 0} : i64
          %39 = load %0, %30, %37 : f32<8>
          %40 = relu %39 : f32<8>
          %41 = const {value = i64[] 0} : i64
          store %40, %1, %30, %37
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
