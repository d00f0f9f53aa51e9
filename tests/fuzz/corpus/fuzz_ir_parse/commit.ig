module @m {
  plan @main(%table: f32[V, 8], %d: f32[V, 8], %x: f32[B]) -> (&f32[8], f32[V, 8], &f32[B]) {
    %0 = alloc : &f32[V, 8]
    %1 = alloc : &f32[8]
    %2 = alloc : &f32[8]
    %3 = alloc : &f32[8]
    %4 = alloc : &f32[B]
    compute %d, %0 {family = "map", outs = 1} (%5: f32[V, 8]) {
      %6 = exp %5 : f32[V, 8]
      yield %6
    }
    compute %table, %2 {family = "reduce", outs = 1} (%7: f32[V, 8]) {
      %8 = reduce %7 {op = sum, axes = [0]} : f32[8]
      yield %8
    }
    compute %x, %4 {family = "map", outs = 1} (%9: f32[B]) {
      %10 = exp %9 : f32[B]
      yield %10
    }
    compute %0, %1 {family = "reduce", outs = 1} (%11: f32[V, 8]) {
      %12 = reduce %11 {op = sum, axes = [0]} : f32[8]
      yield %12
    }
    compute %1, %2, %3 {family = "map", outs = 1} (%13: f32[8], %14: f32[8]) {
      %15 = add %13, %14 : f32[8]
      yield %15
    }
    commit
    compute %table, %d, %table {family = "map", outs = 1} (%16: f32[V, 8], %17: f32[V, 8]) {
      %18 = add %16, %17 : f32[V, 8]
      yield %18
    }
    ret %3, %table, %4 {in_place = [-1, 0, -1]}
  }
}
