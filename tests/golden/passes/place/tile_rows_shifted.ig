# tile_rows: a row that another block writes is not read: parts shifted by a row.
# run: tile_rows
module @m {
  weight @w0 : f32[1, 8, 16] = splat(1)
  weight @w1 : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 8]) -> (&f32[B + 1, 16], &f32[B, 16]) {
    %0 = alloc : &f32[B + 1, 16]
    %1 = view %0 {offset = 16, strides = [16, 1]} : &f32[B, 16]
    compute %x, @w0, %1 {family = "gemm", outs = 1} (%2: f32[B, 8], %3: f32[1, 8, 16]) {
      %4 = matmul_panels %2, %3 {columns = 16} : f32[B, 16]
      yield %4
    }
    %5 = alloc : &f32[B, 16]
    %6 = view %0 {offset = 0, strides = [16, 1]} : &f32[B, 16]
    compute %6, @w1, %5 {family = "gemm", outs = 1} (%7: f32[B, 16], %8: f32[1, 16, 16]) {
      %9 = matmul_panels %7, %8 {columns = 16} : f32[B, 16]
      yield %9
    }
    ret %0, %5
  }
}
# expect:
module @m {
  weight @w0 : f32[1, 8, 16] = splat(1)
  weight @w1 : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 8]) -> (&f32[B + 1, 16], &f32[B, 16]) {
    %0 = alloc : &f32[B + 1, 16]
    %1 = view %0 {offset = 16, strides = [16, 1]} : &f32[B, 16]
    compute %x, @w0, %1 {family = "gemm", outs = 1} (%2: f32[B, 8], %3: f32[1, 8, 16]) {
      %4 = matmul_panels %2, %3 {columns = 16} : f32[B, 16]
      yield %4
    }
    %5 = alloc : &f32[B, 16]
    %6 = view %0 {offset = 0, strides = [16, 1]} : &f32[B, 16]
    compute %6, @w1, %5 {family = "gemm", outs = 1} (%7: f32[B, 16], %8: f32[1, 16, 16]) {
      %9 = matmul_panels %7, %8 {columns = 16} : f32[B, 16]
      yield %9
    }
    ret %0, %5
  }
}
