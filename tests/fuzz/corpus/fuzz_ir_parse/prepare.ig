module @m {
  plan @main(%x: f32[B, 4], %b: f32[4] {opened}, %w: f32[4, 20] {opened}) -> (&f32[B, 20] "y", &f32[4] "c") {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[2, 4, 16]
    %2 = alloc : &f32[1]
    prepare {
      %3 = alloc : &f32[32, 4]
      %4 = view %w {offset = 0, strides = [1, 20]} : &f32[20, 4]
      compute %4, %3 {family = "pad", outs = 1} (%5: f32[20, 4]) {
        %6 = pad %5 {before = [0, 0], after = [12, 0]} : f32[32, 4]
        yield %6
      }
      compute %b, %0 {family = "map", outs = 1} (%7: f32[4]) {
        %8 = exp %7 : f32[4]
        yield %8
      }
      %9 = view %3 {offset = 0, strides = [64, 1, 4]} : &f32[2, 4, 16]
      compute %9, %1 {family = "copy", outs = 1} (%10: f32[2, 4, 16]) {
        yield %10
      }
      compute %0, %2 {family = "reduce", outs = 1} (%11: f32[4]) {
        %12 = reduce %11 {op = sum, axes = [0], keep} : f32[1]
        yield %12
      }
      yield
    }
    %13 = alloc : &f32[B, 20]
    %14 = alloc : &f32[4]
    rows {count = B, block = 112, symbol = rows} {
      %15 = alloc : &f32[rows, 4]
      %16 = view %x {offset = 0, strides = [4, 1]} : &f32[rows, 4]
      compute %16, %b, %15 {family = "map", outs = 1} (%17: f32[rows, 4], %18: f32[4]) {
        %19 = add %17, %18 : f32[rows, 4]
        yield %19
      }
      %20 = view %13 {offset = 0, strides = [20, 1]} : &f32[rows, 20]
      compute %15, %1, %20 {family = "gemm", outs = 1} (%21: f32[rows, 4], %22: f32[2, 4, 16]) {
        %23 = matmul_panels %21, %22 {columns = 20} : f32[rows, 20]
        yield %23
      }
      yield
    }
    compute %0, %2, %14 {family = "map", outs = 1} (%24: f32[4], %25: f32[1]) {
      %26 = sub %24, %25 : f32[4]
      yield %26
    }
    ret %13, %14
  }
}
