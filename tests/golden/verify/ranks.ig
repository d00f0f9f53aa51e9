# Collectives stand where all ranks come by; parts of a table cover it once.
# run: verify
module @ranks {
  graph @main(%c: bool[], %x: f32[N, 2], %n: i64[2]) {
    %0 = if %c : f32[M, 2] {
      %1, %2 = all_to_all %x, %n {rank = 0} : f32[M, 2], i64[2]
      yield %1
    } else {
      yield %x
    }
    ret
  }
}
# expect-error: 6:16: all_to_all in a body, where not every rank may come by
