# ---- tile_rows ----
# tile_rows: layers go over the batch block by block; what stands between goes ahead.
# run: tile_rows
module @m {
  weight @w0 : f32[1, 8, 16] = splat(1)
  weight @w1 : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 8], %ids: i64[B]) -> (&f32[B, 24] "y", &f32[4]) {
    %0 = alloc : &f32[B, 16]
    compute %x, @w0, %0 {family = "gemm", outs = 1} (%1: f32[B, 8], %2: f32[1, 8, 16]) {
      %3 = matmul_panels %1, %2 {columns = 16} : f32[B, 16]
      yield %3
    }
    %4 = alloc : &f32[4]
    compute %ids, %4 {family = "reduce", outs = 1} (%5: i64[B]) {
      %6 = cast %5 {to = f32} : f32[B]
      %7 = expand %6 {to = [4, B]} : f32[4, B]
      %8 = reduce %7 {axes = [1]} : f32[4]
      yield %8
    }
    %9 = alloc : &f32[B, 24]
    %10 = view %9 {offset = 0, strides = [24, 1]} : &f32[B, 16]
    compute %0, @w1, %10 {family = "gemm", outs = 1} (%11: f32[B, 16], %12: f32[1, 16, 16]) {
      %13 = matmul_panels %11, %12 {columns = 16} : f32[B, 16]
      %14 = relu %13 : f32[B, 16]
      yield %14
    }
    %15 = view %9 {offset = 16, strides = [24, 1]} : &f32[B, 8]
    compute %x, %15 {family = "copy", outs = 1} (%16: f32[B, 8]) {
      yield %16
    }
    ret %9, %4
  }
}
# expect:
module @m {
  weight @w0 : f32[1, 8, 16] = splat(1)
  weight @w1 : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 8], %ids: i64[B]) -> (&f32[B, 24] "y", &f32[4]) {
    %0 = alloc : &f32[4]
    compute %ids, %0 {family = "reduce", outs = 1} (%1: i64[B]) {
      %2 = cast %1 {to = f32} : f32[B]
      %3 = expand %2 {to = [4, B]} : f32[4, B]
      %4 = reduce %3 {axes = [1]} : f32[4]
      yield %4
    }
    %5 = alloc : &f32[B, 24]
    rows {count = B, block = 112, symbol = rows} {
      %6 = alloc : &f32[rows, 16]
      %7 = view %x {offset = 0, strides = [8, 1]} : &f32[rows, 8]
      compute %7, @w0, %6 {family = "gemm", outs = 1} (%8: f32[rows, 8], %9: f32[1, 8, 16]) {
        %10 = matmul_panels %8, %9 {columns = 16} : f32[rows, 16]
        yield %10
      }
      %11 = view %5 {offset = 0, strides = [24, 1]} : &f32[rows, 16]
      compute %6, @w1, %11 {family = "gemm", outs = 1} (%12: f32[rows, 16], %13: f32[1, 16, 16]) {
        %14 = matmul_panels %12, %13 {columns = 16} : f32[rows, 16]
        %15 = relu %14 : f32[rows, 16]
        yield %15
      }
      %16 = view %x {offset = 0, strides = [8, 1]} : &f32[rows, 8]
      %17 = view %5 {offset = 16, strides = [24, 1]} : &f32[rows, 8]
      compute %16, %17 {family = "copy", outs = 1} (%18: f32[rows, 8]) {
        yield %18
      }
      yield
    }
    ret %5, %0
  }
}
# ---- tile_rows_not ----
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
# ---- tile_rows_shifted ----
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
# ---- tile_images ----
# tile_rows: convolutions, pads and what is small between them go over images one by one.
# run: tile_rows
module @m {
  weight @w : f32[1, 16, 16] = splat(1)
  weight @fc : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 62, 64, 16]) -> (&f32[B, 64, 64, 16], &f32[B, 16]) {
    %0 = alloc : &f32[B, 64, 64, 16]
    compute %x, %0 {family = "pad", outs = 1} (%1: f32[B, 62, 64, 16]) {
      %2 = pad %1 {before = [0, 1, 0, 0], after = [0, 1, 0, 0]} : f32[B, 64, 64, 16]
      yield %2
    }
    %3 = alloc : &f32[B, 16]
    compute %0, %3 {family = "reduce", outs = 1} (%4: f32[B, 64, 64, 16]) {
      %5 = reduce %4 {op = mean, axes = [1, 2]} : f32[B, 16]
      yield %5
    }
    %6 = alloc : &f32[B, 16]
    compute %3, @fc, %6 {family = "gemm", outs = 1} (%7: f32[B, 16], %8: f32[1, 16, 16]) {
      %9 = matmul_panels %7, %8 {columns = 16} : f32[B, 16]
      yield %9
    }
    %10 = alloc : &f32[B, 64, 64, 16]
    compute %0, @w, %10 {family = "conv_panels", outs = 1} (%11: f32[B, 64, 64, 16], %12: f32[1, 16, 16]) {
      %13 = conv_panels %11, %12 {kernel = [1, 1], columns = 16} : f32[B, 64, 64, 16]
      yield %13
    }
    ret %10, %6
  }
}
# expect:
module @m {
  weight @w : f32[1, 16, 16] = splat(1)
  weight @fc : f32[1, 16, 16] = splat(1)
  plan @main(%x: f32[B, 62, 64, 16]) -> (&f32[B, 64, 64, 16], &f32[B, 16]) {
    %0 = alloc : &f32[B, 16]
    %1 = alloc : &f32[B, 64, 64, 16]
    rows {count = B, block = 1, symbol = rows} {
      %2 = alloc : &f32[rows, 64, 64, 16]
      %3 = alloc : &f32[rows, 16]
      %4 = view %x {offset = 0, strides = [63488, 1024, 16, 1]} : &f32[rows, 62, 64, 16]
      compute %4, %2 {family = "pad", outs = 1} (%5: f32[rows, 62, 64, 16]) {
        %6 = pad %5 {before = [0, 1, 0, 0], after = [0, 1, 0, 0]} : f32[rows, 64, 64, 16]
        yield %6
      }
      compute %2, %3 {family = "reduce", outs = 1} (%7: f32[rows, 64, 64, 16]) {
        %8 = reduce %7 {op = mean, axes = [1, 2]} : f32[rows, 16]
        yield %8
      }
      %9 = view %0 {offset = 0, strides = [16, 1]} : &f32[rows, 16]
      compute %3, @fc, %9 {family = "gemm", outs = 1} (%10: f32[rows, 16], %11: f32[1, 16, 16]) {
        %12 = matmul_panels %10, %11 {columns = 16} : f32[rows, 16]
        yield %12
      }
      %13 = view %1 {offset = 0, strides = [65536, 1024, 16, 1]} : &f32[rows, 64, 64, 16]
      compute %2, @w, %13 {family = "conv_panels", outs = 1} (%14: f32[rows, 64, 64, 16], %15: f32[1, 16, 16]) {
        %16 = conv_panels %14, %15 {kernel = [1, 1], columns = 16} : f32[rows, 64, 64, 16]
        yield %16
      }
      yield
    }
    ret %1, %0
  }
}
# ---- tile_images_not ----
# tile_rows: images that a pad shifts, indices that count images, and weights that are large.
# run: tile_rows
module @m {
  weight @w : f32[16, 256, 16] = splat(1)
  plan @main(%x: f32[B, 64, 64, 16], %y: f32[B, 16, 64, 64], %z: f32[B, 16, 16, 256]) -> (&f32[B, 32, 64, 16], &i64[B, 16, 32, 32], &f32[B, 16, 16, 256]) {
    %0 = alloc : &f32[B, 64, 64, 16]
    compute %x, %0 {family = "pad", outs = 1} (%1: f32[B, 64, 64, 16]) {
      %2 = pad %1 {before = [1, 0, 0, 0], after = [-1, 0, 0, 0]} : f32[B, 64, 64, 16]
      yield %2
    }
    %3 = alloc : &f32[B, 32, 64, 16]
    compute %0, %3 {family = "pad", outs = 1} (%4: f32[B, 64, 64, 16]) {
      %5 = pad %4 {before = [0, 0, 0, 0], after = [0, -32, 0, 0]} : f32[B, 32, 64, 16]
      yield %5
    }
    %6 = alloc : &f32[B, 16, 64, 64]
    compute %y, %6 {family = "map", outs = 1} (%7: f32[B, 16, 64, 64]) {
      %8 = exp %7 : f32[B, 16, 64, 64]
      yield %8
    }
    %9 = alloc : &i64[B, 16, 32, 32]
    compute %6, %9 {family = "pool", outs = 1} (%10: f32[B, 16, 64, 64]) {
      %11 = pool_indices %10 {kernel = [2, 2], strides = [2, 2], whole = true} : i64[B, 16, 32, 32]
      yield %11
    }
    %12 = alloc : &f32[B, 16, 16, 256]
    compute %z, @w, %12 {family = "conv_panels", outs = 1} (%13: f32[B, 16, 16, 256], %14: f32[16, 256, 16]) {
      %15 = conv_panels %13, %14 {kernel = [1, 1], columns = 256} : f32[B, 16, 16, 256]
      yield %15
    }
    %16 = alloc : &f32[B, 16, 16, 256]
    compute %12, @w, %16 {family = "conv_panels", outs = 1} (%17: f32[B, 16, 16, 256], %18: f32[16, 256, 16]) {
      %19 = conv_panels %17, %18 {kernel = [1, 1], columns = 256} : f32[B, 16, 16, 256]
      yield %19
    }
    ret %3, %9, %16
  }
}
# expect:
module @m {
  weight @w : f32[16, 256, 16] = splat(1)
  plan @main(%x: f32[B, 64, 64, 16], %y: f32[B, 16, 64, 64], %z: f32[B, 16, 16, 256]) -> (&f32[B, 32, 64, 16], &i64[B, 16, 32, 32], &f32[B, 16, 16, 256]) {
    %0 = alloc : &f32[B, 64, 64, 16]
    compute %x, %0 {family = "pad", outs = 1} (%1: f32[B, 64, 64, 16]) {
      %2 = pad %1 {before = [1, 0, 0, 0], after = [-1, 0, 0, 0]} : f32[B, 64, 64, 16]
      yield %2
    }
    %3 = alloc : &f32[B, 32, 64, 16]
    compute %0, %3 {family = "pad", outs = 1} (%4: f32[B, 64, 64, 16]) {
      %5 = pad %4 {before = [0, 0, 0, 0], after = [0, -32, 0, 0]} : f32[B, 32, 64, 16]
      yield %5
    }
    %6 = alloc : &f32[B, 16, 64, 64]
    compute %y, %6 {family = "map", outs = 1} (%7: f32[B, 16, 64, 64]) {
      %8 = exp %7 : f32[B, 16, 64, 64]
      yield %8
    }
    %9 = alloc : &i64[B, 16, 32, 32]
    compute %6, %9 {family = "pool", outs = 1} (%10: f32[B, 16, 64, 64]) {
      %11 = pool_indices %10 {kernel = [2, 2], strides = [2, 2], whole} : i64[B, 16, 32, 32]
      yield %11
    }
    %12 = alloc : &f32[B, 16, 16, 256]
    compute %z, @w, %12 {family = "conv_panels", outs = 1} (%13: f32[B, 16, 16, 256], %14: f32[16, 256, 16]) {
      %15 = conv_panels %13, %14 {kernel = [1, 1], columns = 256} : f32[B, 16, 16, 256]
      yield %15
    }
    %16 = alloc : &f32[B, 16, 16, 256]
    compute %12, @w, %16 {family = "conv_panels", outs = 1} (%17: f32[B, 16, 16, 256], %18: f32[16, 256, 16]) {
      %19 = conv_panels %17, %18 {kernel = [1, 1], columns = 256} : f32[B, 16, 16, 256]
      yield %19
    }
    ret %3, %9, %16
  }
}
