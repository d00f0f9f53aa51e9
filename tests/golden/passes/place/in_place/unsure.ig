# bufferise: what reads the argument otherwise than element by element is computed first.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%a: f32[4, 4], %b: f32[4], %k: f32[4, 4]) -> (f32[4, 4], f32[4], f32[4, 4]) {
    %0 = transpose %a {perm = [1, 0]} : f32[4, 4]
    %1 = add %a, %0 : f32[4, 4]
    %2 = reduce %a {op = sum, axes = [0]} : f32[4]
    %3 = add %2, %b : f32[4]
    %4 = slice %k {starts = [0, 0], sizes = [2, 4]} : f32[2, 4]
    %5 = insert %k, %4 {starts = [1, 0]} : f32[4, 4]
    ret %1, %3, %5 {in_place = [0, 1, 2]}
  }
}
# expect:
module @m {
  plan @main(%a: f32[4, 4], %b: f32[4], %k: f32[4, 4]) -> (f32[4, 4], f32[4], f32[4, 4]) {
    %0 = view %a {offset = 0, strides = [1, 4]} : &f32[4, 4]
    %1 = alloc : &f32[4, 4]
    compute %a, %0, %1 {family = "map", outs = 1} (%2: f32[4, 4], %3: f32[4, 4]) {
      %4 = add %2, %3 : f32[4, 4]
      yield %4
    }
    %5 = alloc : &f32[4]
    compute %a, %5 {family = "reduce", outs = 1} (%6: f32[4, 4]) {
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      yield %7
    }
    %8 = alloc : &f32[4, 4]
    compute %k, %8 {family = "copy", outs = 1} (%9: f32[4, 4]) {
      yield %9
    }
    %10 = view %k {offset = 0, strides = [4, 1]} : &f32[2, 4]
    %11 = view %8 {offset = 4, strides = [4, 1]} : &f32[2, 4]
    compute %10, %11 {family = "copy", outs = 1} (%12: f32[2, 4]) {
      yield %12
    }
    commit
    compute %5, %b, %b {family = "map", outs = 1} (%13: f32[4], %14: f32[4]) {
      %15 = add %13, %14 : f32[4]
      yield %15
    }
    compute %1, %a {family = "copy", outs = 1} (%16: f32[4, 4]) {
      yield %16
    }
    compute %8, %k {family = "copy", outs = 1} (%17: f32[4, 4]) {
      yield %17
    }
    ret %a, %b, %k {in_place = [0, 1, 2]}
  }
}
