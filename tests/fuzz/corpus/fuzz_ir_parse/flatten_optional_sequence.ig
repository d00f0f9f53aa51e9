module @m {
  graph @main(%c: bool[], %n: i64[], %x: opt<seq<f32[k]>>, %y: f32[3]) -> (opt<seq<f32[k]>> "x", opt<seq<f32[k2]>> "z", i64[], opt<f32[3]> "w", i64[]) {
    %0 = if %c : opt<seq<f32[k2]>> {
      %1 = opt_none : opt<seq<f32[k3]>>
      yield %1
    } else {
      %2 = seq_make %y : seq<f32[3]>
      %3 = opt_make %2 : opt<seq<f32[3]>>
      yield %3
    }
    %4 = loop %n, %c, %0 : opt<seq<f32[k2]>> (%i: i64[], %g: bool[], %l: opt<seq<f32[k4]>>) {
      %5 = seq_at %l, %i : seq<f32[k4]>
      %6 = seq_insert %5, %y : seq<f32[k4]>
      %7 = opt_make %6 : opt<seq<f32[k4]>>
      yield %g, %7
    }
    %8 = seq_length %x : i64[]
    %9 = opt_make %y : opt<f32[3]>
    %10 = opt_none : opt<f32[3]>
    %11 = seq_length %10 : i64[]
    ret %x, %4, %8, %9, %11
  }
}
