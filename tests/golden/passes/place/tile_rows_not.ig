# tile_rows: what mixes rows is no member; neither is what is broadcast along the batch.
# run: tile_rows
module @m {
  weight @w : f32[1, 8, 16] = splat(1)
  plan @main(%x: f32[B, 8], %v: f32[B]) -> (&f32[B, 16], &f32[B, B], &f32[16]) {
    %0 = alloc : &f32[B, 16]
    compute %x, @w, %0 {family = "gemm", outs = 1} (%1: f32[B, 8], %2: f32[1, 8, 16]) {
      %3 = matmul_panels %1, %2 {columns = 16} : f32[B, 16]
      yield %3
    }
    %4 = alloc : &f32[B, B]
    compute %v, %4 {family = "map", outs = 1} (%5: f32[B]) {
      %6 = expand %5 {to = [B, B]} : f32[B, B]
      yield %6
    }
    %7 = alloc : &f32[16]
    compute %0, %7 {family = "reduce", outs = 1} (%8: f32[B, 16]) {
      %9 = reduce %8 {axes = [0]} : f32[16]
      yield %9
    }
    ret %0, %4, %7
  }
}
# expect:
module @m {
  weight @w : f32[1, 8, 16] = splat(1)
  plan @main(%x: f32[B, 8], %v: f32[B]) -> (&f32[B, 16], &f32[B, B], &f32[16]) {
    %0 = alloc : &f32[B, 16]
    compute %x, @w, %0 {family = "gemm", outs = 1} (%1: f32[B, 8], %2: f32[1, 8, 16]) {
      %3 = matmul_panels %1, %2 {columns = 16} : f32[B, 16]
      yield %3
    }
    %4 = alloc : &f32[B, B]
    compute %v, %4 {family = "map", outs = 1} (%5: f32[B]) {
      %6 = expand %5 {to = [B, B]} : f32[B, B]
      yield %6
    }
    %7 = alloc : &f32[16]
    compute %0, %7 {family = "reduce", outs = 1} (%8: f32[B, 16]) {
      %9 = reduce %8 {axes = [0]} : f32[16]
      yield %9
    }
    ret %0, %4, %7
  }
}
