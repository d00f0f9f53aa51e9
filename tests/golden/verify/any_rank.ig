# A sequence of items of any rank takes one of a rank, but not the other way round.
# run: verify
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
# expect-error: 5:10: body 1 yields seq<f32[*]> for result 0
# expect-error: 10:10: carried value 0 changes its type
