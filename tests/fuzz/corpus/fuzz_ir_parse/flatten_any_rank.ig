module @m {
  graph @main(%c: bool[], %n: i64[], %s: seq<f32[]>, %x: f32[B], %p: i64[]) -> (seq<f32[*]> "t", seq<f32[*]> "u", i64[]) {
    %0 = loop %n, %c, %s : seq<f32[*]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      %1 = seq_insert %l, %x, %p : seq<f32[*]>
      yield %g, %1
    }
    %2 = if %c : seq<f32[*]> {
      %3 = seq_make %x : seq<f32[k]>
      yield %3
    } else {
      %4 = seq_erase %0, %p : seq<f32[*]>
      yield %4
    }
    %5 = seq_length %2 : i64[]
    ret %0, %2, %5
  }
}
