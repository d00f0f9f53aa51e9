# bufferise: what reads a cache after its rows were replaced stands behind commit, with all
# that needs it; indices of a later layer's are checked in front.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[B, T, 4], %v: f32[B, T, 4], %p: i64[B], %x: f32[B, 1, 4]) -> (f32[B, T, 4] "k1", f32[B, T, 4] "v1", f32[B, 1, 8] "y") {
    %0 = reshape %p {to = [B, 1, 1]} : i64[B, 1, 1]
    %1 = expand %0 {to = [B, 1, 4]} : i64[B, 1, 4]
    %2 = sin %x : f32[B, 1, 4]
    %3 = scatter_elements %k, %1, %2 {axis = 1} : f32[B, T, 4]
    %4 = matmul %x, %3 {transpose_b} : f32[B, 1, T]
    %5 = softmax %4 {axis = 2} : f32[B, 1, T]
    %6 = matmul %5, %3 : f32[B, 1, 4]
    %7 = scatter_elements %v, %1, %6 {axis = 1} : f32[B, T, 4]
    %8 = transpose %7 {perm = [0, 2, 1]} : f32[B, 4, T]
    %9 = matmul %x, %8 : f32[B, 1, T]
    %10 = matmul %9, %7 : f32[B, 1, 4]
    %11 = concat %10, %2 {axis = 2} : f32[B, 1, 8]
    ret %3, %7, %11 {in_place = [0, 1, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[B, T, 4], %v: f32[B, T, 4], %p: i64[B], %x: f32[B, 1, 4]) -> (f32[B, T, 4] "k1", f32[B, T, 4] "v1", &f32[B, 1, 8] "y") {
    %0 = alloc : &f32[B, 1, 8]
    %1 = view %0 {offset = 4, strides = [8, 8, 1]} : &f32[B, 1, 4]
    compute %x, %1 {family = "map", outs = 1} (%2: f32[B, 1, 4]) {
      %3 = sin %2 : f32[B, 1, 4]
      yield %3
    }
    %4 = view %p {offset = 0, strides = [1, 1, 0]} : &i64[B, 1, 4]
    %5 = view %0 {offset = 4, strides = [8, 8, 1]} : &f32[B, 1, 4]
    %6 = alloc : &i64[B, 1, 4]
    compute %4, %6 {family = "scatter", outs = 1} (%7: i64[B, 1, 4]) {
      %8 = check_index %7 {extents = [T]} : i64[B, 1, 4]
      yield %8
    }
    %9 = alloc : &f32[B, 1, T]
    %10 = alloc : &f32[B, 1, T]
    %11 = alloc : &f32[B, 1, 4]
    %12 = view %p {offset = 0, strides = [1, 1, 0]} : &i64[B, 1, 4]
    %13 = alloc : &i64[B, 1, 4]
    compute %12, %13 {family = "scatter", outs = 1} (%14: i64[B, 1, 4]) {
      %15 = check_index %14 {extents = [T]} : i64[B, 1, 4]
      yield %15
    }
    %16 = alloc : &f32[B, 1, T]
    commit
    compute %k, %6, %5, %k {family = "scatter", outs = 1} (%17: f32[B, T, 4], %18: i64[B, 1, 4], %19: f32[B, 1, 4]) {
      %20 = scatter_elements %17, %18, %19 {axis = 1, in_place, is_checked} : f32[B, T, 4]
      yield %20
    }
    %21 = view %k {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    compute %x, %21, %9 {family = "dot", outs = 1} (%22: f32[B, 1, 4], %23: f32[B, T, 4]) {
      %24 = matmul %22, %23 {transpose_b} : f32[B, 1, T]
      yield %24
    }
    compute %9, %10 {family = "softmax", outs = 1} (%25: f32[B, 1, T]) {
      %26 = softmax %25 {axis = 2} : f32[B, 1, T]
      yield %26
    }
    %27 = view %k {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    compute %10, %27, %11 {family = "dot", outs = 1} (%28: f32[B, 1, T], %29: f32[B, T, 4]) {
      %30 = matmul %28, %29 : f32[B, 1, 4]
      yield %30
    }
    compute %v, %13, %11, %v {family = "scatter", outs = 1} (%31: f32[B, T, 4], %32: i64[B, 1, 4], %33: f32[B, 1, 4]) {
      %34 = scatter_elements %31, %32, %33 {axis = 1, in_place, is_checked} : f32[B, T, 4]
      yield %34
    }
    %35 = view %v {offset = 0, strides = [4*T, 1, 4]} : &f32[B, 4, T]
    compute %x, %35, %16 {family = "dot", outs = 1} (%36: f32[B, 1, 4], %37: f32[B, 4, T]) {
      %38 = matmul %36, %37 : f32[B, 1, T]
      yield %38
    }
    %39 = view %v {offset = 0, strides = [4*T, 4, 1]} : &f32[B, T, 4]
    %40 = view %0 {offset = 0, strides = [8, 8, 1]} : &f32[B, 1, 4]
    compute %16, %39, %40 {family = "dot", outs = 1} (%41: f32[B, 1, T], %42: f32[B, T, 4]) {
      %43 = matmul %41, %42 : f32[B, 1, 4]
      yield %43
    }
    ret %k, %v, %0 {in_place = [0, 1, -1]}
  }
}
