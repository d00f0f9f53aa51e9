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
    launch %x, %0 {kernel = @map_relu, outs = 1, grid = ceil(B / 4096), params = [ceil(B / 4096), B], cost = ceil(B / 4), work = [B, 8*B, 0]}
    %1 = alloc : &f32[C]
    launch %y, %1 {kernel = @map_relu, outs = 1, grid = ceil(C / 4096), params = [ceil(C / 4096), C], cost = ceil(C / 4), work = [C, 8*C, 0]}
    ret %0, %1
  }
  kernel @map_relu(%0: &f32, %1: &f32, %2: i64, %3: i64) {
    %4 = const {value = i64[] 1} : i64
    %5, %6 = tiles : i64, i64
    %7 = const {value = i64[] 1} : i64
    for %5, %6, %7 (%8: i64) {
      %9 = const {value = i64[] 1} : i64
      %10 = const {value = i64[] 4096} : i64
      %11 = const {value = i64[] 1} : i64
      %12 = div %8, %2 : i64
      %13 = mod %8, %2 : i64
      %14 = mul %13, %10 : i64
      %15 = add %14, %10 : i64
      %16 = min %3, %15 : i64
      %17 = add %12, %9 : i64
      %18 = min %4, %17 : i64
      for %12, %18, %11 (%19: i64) {
        %20 = const {value = i64[] 8} : i64
        %21 = sub %16, %14 : i64
        %22 = div %21, %20 : i64
        %23 = mul %22, %20 : i64
        %24 = add %14, %23 : i64
        for %14, %24, %20 (%25: i64) {
          %26 = const {value = i64[] 0} : i64
          %27 = load %0, %25 : f32<8>
          %28 = relu %27 : f32<8>
          %29 = const {value = i64[] 0} : i64
          store %28, %1, %25
          yield
        }
        %30 = lt %24, %16 : bool
        if %30 {
          %31 = sub %16, %24 : i64
          %32 = const {value = i64[] 0} : i64
          %33 = load %0, %24, %31 : f32<8>
          %34 = relu %33 : f32<8>
          %35 = const {value = i64[] 0} : i64
          store %34, %1, %24, %31
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
