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
