module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[1, B]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = true} : bool[]
    %2, %3 = loop %0, %1, %x {scans = 1} : f32[B], f32[1, B] (%i: i64[], %k: bool[], %a: f32[B]) {
      %4 = cast %i {to = f32}
      %5 = add %a, %4
      %6 = neg %5
      yield %k, %5, %6
    }
    ret %2, %3
  }
}
