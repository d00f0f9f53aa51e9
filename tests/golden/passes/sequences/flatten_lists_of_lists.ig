# flatten_sequences: lists of lists are refused.
# run: flatten_sequences
# target: cpu:v3
module @m {
  graph @main(%x: f32[3]) -> (i64[]) {
    %0 = opt_none : opt<opt<f32[3]>>
    %1 = seq_length %0 : i64[]
    ret %1
  }
}
# expect-error: 6:10: lists of lists cannot be compiled yet
