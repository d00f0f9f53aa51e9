# Only sequences are of any rank.
# run:
module @any_alone {
  graph @main(%s: opt<f32[*]>) -> (i64[]) {
    %0 = seq_length %s
    ret %0
  }
}
# expect-error: 4:27: expected a dimension, found '*'
