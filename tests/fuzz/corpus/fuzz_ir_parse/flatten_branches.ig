module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B], %y: f32[3]) -> (i64[]) {
    %0 = if %c : seq<f32[k]> {
      %1 = seq_make %x, %y : seq<f32[k3]>
      yield %1
    } else {
      %2 = seq_make %y : seq<f32[3]>
      yield %2
    }
    %3 = loop %n, %c, %0 : seq<f32[k2]> (%i: i64[], %g: bool[], %l: seq<f32[k4]>) {
      %4 = seq_insert %l, %x : seq<f32[k4]>
      yield %g, %4
    }
    %5 = seq_length %3 : i64[]
    ret %5
  }
}
