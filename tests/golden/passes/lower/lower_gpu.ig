# lower: on a GPU a tile is a block of threads, and the launch says how many.
# run: fuse,bufferise,lower
# target: cuda:sm_80
# not run: kernels of GPUs are judged by test_cuda_lower
module @m {
  graph @main(%x: f32[B, 3], %y: f32[3]) -> (f32[B, 3] "o") {
    %0 = add %x, %y : f32[B, 3]
    ret %0
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 3], %y: f32[3]) -> (&f32[B, 3] "o") {
    %0 = alloc : &f32[B, 3]
    launch %x, %y, %0 {kernel = @map_add, outs = 1, grid = ceil(3*B / 1024), params = [3*B], threads = 256, work = [3*B, 24*B + 12, 0]}
    ret %0
  }
  kernel @map_add(%0: &f32, %1: &f32, %2: &f32, %3: i64) {
    %4 = const {value = i64[] 0} : i64
    %5 = const {value = i64[] 1} : i64
    %6 = const {value = i64[] 3} : i64
    %7 = thread : i64
    %8, %9 = tiles : i64, i64
    %10 = const {value = i64[] 1} : i64
    for %8, %9, %10 (%11: i64) {
      %12 = const {value = i64[] 1024} : i64
      %13 = mul %11, %12 : i64
      %14 = const {value = i64[] 1024} : i64
      %15 = add %13, %14 : i64
      %16 = min %3, %15 : i64
      %17 = const {value = i64[] 256} : i64
      %18 = add %13, %7 : i64
      for %18, %16, %17 (%19: i64) {
        %20 = mod %19, %6 : i64
        %21 = div %19, %6 : i64
        %22 = const {value = i64[] 0} : i64
        %23 = mul %21, %6 : i64
        %24 = add %23, %20 : i64
        %25 = load %0, %24 : f32
        %26 = const {value = i64[] 0} : i64
        %27 = const {value = i64[] 0} : i64
        %28 = const {value = i64[] 0} : i64
        %29 = load %1, %20 : f32
        %30 = add %25, %29 : f32
        %31 = const {value = i64[] 0} : i64
        %32 = mul %21, %6 : i64
        %33 = add %32, %20 : i64
        store %30, %2, %33
        yield
      }
      yield
    }
    ret
  }
}
