# ---- in_place ----
# prepare: a weight that the run writes in place is read before commit.
# run: fuse,bufferise,order,tile_rows,prepare
# then: lower
# within: 1e-5 sums are made in another order
module @m {
  graph @main(%x: f32[4], %w: f32[4] {opened}) -> (f32[4] "y", f32[4] "next") {
    %0 = reduce %w {op = sum, axes = [0], keep = true} : f32[1]
    %1 = mul %x, %0 : f32[4]
    %2 = sub %w, %x : f32[4]
    ret %1, %2 {in_place = [-1, 1]}
  }
}
# expect:
module @m {
  plan @main(%x: f32[4], %w: f32[4] {opened}) -> (&f32[4] "y", f32[4] "next") {
    %0 = alloc : &f32[1]
    prepare {
      compute %w, %0 {family = "reduce", outs = 1} (%1: f32[4]) {
        %2 = reduce %1 {op = sum, axes = [0], keep} : f32[1]
        yield %2
      }
      yield
    }
    %3 = alloc : &f32[4]
    compute %x, %0, %3 {family = "map", outs = 1} (%4: f32[4], %5: f32[1]) {
      %6 = mul %4, %5 : f32[4]
      yield %6
    }
    commit
    compute %w, %x, %w {family = "map", outs = 1} (%7: f32[4], %8: f32[4]) {
      %9 = sub %7, %8 : f32[4]
      yield %9
    }
    ret %3, %w {in_place = [-1, 1]}
  }
}
# ---- matrix ----
# prepare: panels of an opened weight are made once a change, what the batch goes into is not.
# run: pack,(infer,guards,canonicalise,fold,cse,dce)*,fuse,bufferise,order,tile_rows,prepare
# then: lower
# within: 1e-5 sums are made in another order
# target: cpu:v3
module @m {
  graph @main(%x: f32[B, 4], %b: f32[4] {opened}, %w: f32[4, 20] {opened}) -> (f32[B, 20] "y", f32[4] "c") {
    %0 = add %x, %b : f32[B, 4]
    %1 = matmul %0, %w : f32[B, 20]
    %2 = exp %b : f32[4]
    %3 = reduce %2 {op = sum, axes = [0], keep = true} : f32[1]
    %4 = sub %2, %3 : f32[4]
    ret %1, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[B, 4], %b: f32[4] {opened}, %w: f32[4, 20] {opened}) -> (&f32[B, 20] "y", &f32[4] "c") {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[2, 4, 16]
    %2 = alloc : &f32[1]
    prepare {
      %3 = alloc : &f32[4, 32]
      compute %w, %3 {family = "pad", outs = 1} (%4: f32[4, 20]) {
        %5 = pad %4 {before = [0, 0], after = [0, 12]} : f32[4, 32]
        yield %5
      }
      compute %b, %0 {family = "map", outs = 1} (%6: f32[4]) {
        %7 = exp %6 : f32[4]
        yield %7
      }
      %8 = view %3 {offset = 0, strides = [16, 32, 1]} : &f32[2, 4, 16]
      compute %8, %1 {family = "copy", outs = 1} (%9: f32[2, 4, 16]) {
        yield %9
      }
      compute %0, %2 {family = "reduce", outs = 1} (%10: f32[4]) {
        %11 = reduce %10 {op = sum, axes = [0], keep} : f32[1]
        yield %11
      }
      yield
    }
    %12 = alloc : &f32[B, 20]
    %13 = alloc : &f32[4]
    rows {count = B, block = 112, symbol = rows} {
      %14 = alloc : &f32[rows, 4]
      %15 = view %x {offset = 0, strides = [4, 1]} : &f32[rows, 4]
      compute %15, %b, %14 {family = "map", outs = 1} (%16: f32[rows, 4], %17: f32[4]) {
        %18 = add %16, %17 : f32[rows, 4]
        yield %18
      }
      %19 = view %12 {offset = 0, strides = [20, 1]} : &f32[rows, 20]
      compute %14, %1, %19 {family = "gemm", outs = 1} (%20: f32[rows, 4], %21: f32[2, 4, 16]) {
        %22 = matmul_panels %20, %21 {columns = 20} : f32[rows, 20]
        yield %22
      }
      yield
    }
    compute %0, %2, %13 {family = "map", outs = 1} (%23: f32[4], %24: f32[1]) {
      %25 = sub %23, %24 : f32[4]
      yield %25
    }
    ret %12, %13
  }
}
# ---- results ----
# prepare: what the graph returns, and what an argument of each call goes into, stays.
# run: fuse,bufferise,order,tile_rows,prepare
# then: lower
# values: x plain
# values: b plain
module @m {
  graph @main(%x: f32[4], %b: f32[4] {opened}) -> (f32[4], f32[4], f32[4]) {
    %0 = exp %b : f32[4]
    %1 = reduce %b {op = sum, axes = [0], keep = true} : f32[1]
    %2 = reduce %x {op = sum, axes = [0], keep = true} : f32[1]
    %3 = sub %x, %1 : f32[4]
    %4 = sub %b, %2 : f32[4]
    ret %0, %3, %4
  }
}
# expect:
module @m {
  plan @main(%x: f32[4], %b: f32[4] {opened}) -> (&f32[4], &f32[4], &f32[4]) {
    %0 = alloc : &f32[1]
    prepare {
      compute %b, %0 {family = "reduce", outs = 1} (%1: f32[4]) {
        %2 = reduce %1 {op = sum, axes = [0], keep} : f32[1]
        yield %2
      }
      yield
    }
    %3 = alloc : &f32[4]
    %4 = alloc : &f32[1]
    %5 = alloc : &f32[4]
    %6 = alloc : &f32[4]
    compute %b, %3 {family = "map", outs = 1} (%7: f32[4]) {
      %8 = exp %7 : f32[4]
      yield %8
    }
    compute %x, %4 {family = "reduce", outs = 1} (%9: f32[4]) {
      %10 = reduce %9 {op = sum, axes = [0], keep} : f32[1]
      yield %10
    }
    compute %x, %0, %5 {family = "map", outs = 1} (%11: f32[4], %12: f32[1]) {
      %13 = sub %11, %12 : f32[4]
      yield %13
    }
    compute %b, %4, %6 {family = "map", outs = 1} (%14: f32[4], %15: f32[1]) {
      %16 = sub %14, %15 : f32[4]
      yield %16
    }
    ret %3, %5, %6
  }
}
