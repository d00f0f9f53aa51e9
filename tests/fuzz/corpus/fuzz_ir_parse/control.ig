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
