# Branches, loops, regions; nested, with and without arguments and results.
# run:
module @control {
  graph @main(%c: bool[], %n: i64[], %x: f32[2], %s: seq<f32[2]>) -> (f32[2], f32[T, 2], f32[2], seq<f32[2]>) {
    %0 = if %c : f32[2] {
      %1 = relu %x
      yield %1
    } else {
      yield %x
    }
    %4, %5 = loop %n, %c, %0 {scans = 1} (%i: i64[], %k: bool[], %y: f32[2]) {
      %6 = add %y, %x
      if %k {
        guard eq(T, T) "a branch without results"
        yield
      } else {
        yield
      }
      yield %k, %6, %6
    } : f32[2], f32[T, 2]
    %7 = loop %n, %c, %s (%i: i64[], %k: bool[], %y: seq<f32[2]>) {
      %8 = seq_insert %y, %4
      yield %k, %8
    } : seq<f32[2]>
    %9 = fused %4, %x {family = "map"} : f32[2] (%a: f32[2], %b: f32[2]) {
      %10 = add %a, %b
      %11 = relu %10
      yield %11
    }
    %12 = fused : f32[2] {
      %13 = const {value = [1, 2]} : f32[2]
      yield %13
    }
    %14 = add %9, %12
    ret %4, %5, %14, %7
  }
}
# expect:
module @control {
  graph @main(%c: bool[], %n: i64[], %x: f32[2], %s: seq<f32[2]>) -> (f32[2], f32[T, 2], f32[2], seq<f32[2]>) {
    %0 = if %c : f32[2] {
      %1 = relu %x : f32[2]
      yield %1
    } else {
      yield %x
    }
    %2, %3 = loop %n, %c, %0 {scans = 1} : f32[2], f32[T, 2] (%i: i64[], %k: bool[], %y: f32[2]) {
      %4 = add %y, %x : f32[2]
      if %k {
        guard eq(T, T) "a branch without results"
        yield
      } else {
        yield
      }
      yield %k, %4, %4
    }
    %5 = loop %n, %c, %s : seq<f32[2]> (%i: i64[], %k: bool[], %y: seq<f32[2]>) {
      %6 = seq_insert %y, %2 : seq<f32[2]>
      yield %k, %6
    }
    %7 = fused %2, %x {family = "map"} : f32[2] (%a: f32[2], %b: f32[2]) {
      %8 = add %a, %b : f32[2]
      %9 = relu %8 : f32[2]
      yield %9
    }
    %10 = fused : f32[2] {
      %11 = const {value = [1, 2]} : f32[2]
      yield %11
    }
    %12 = add %7, %10 : f32[2]
    ret %2, %3, %12, %5
  }
}
