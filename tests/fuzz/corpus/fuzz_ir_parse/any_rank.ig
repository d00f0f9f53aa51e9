module @any_rank {
  graph @main(%c: bool[], %n: i64[], %s: seq<f32[]>, %t: seq<f32[*]>) -> (seq<f32[]>) {
    %0 = if %c : seq<f32[]> {
      yield %s
    } else {
      yield %t
    }
    %1 = loop %n, %c, %s : seq<f32[]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      yield %g, %l
    }
    %2 = loop %n, %c, %s : seq<f32[*]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      yield %g, %s
    }
    ret %0
  }
}
