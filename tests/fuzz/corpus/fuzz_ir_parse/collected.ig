module @m {
  graph @main(%n: i64[], %c: bool[], %e: i64[1], %x: f32[9], %z: f32[]) -> (f32[], f32[t, k]) {
    %0, %1 = loop %n, %c, %z {scans = 1} : f32[], f32[t, k] (%i: i64[], %g: bool[], %s: f32[]) {
      bind %e {symbols = [m]}
      %2 = slice %x {starts = [0], sizes = [m]} : f32[m]
      %3 = add %2, %s : f32[m]
      yield %g, %s, %3
    }
    ret %0, %1
  }
}
