# What a host value of nothing is must be of the op's kind.
# run: verify
module @host_values {
  graph @main(%x: f32[4]) -> (f32[4]) {
    %0 = seq_empty {of = f32} : f32[4]
    %1 = seq_empty {of = i64} : seq<f32[4]>
    %2 = seq_empty {of = f32} : seq<seq<f32[4]>>
    %3 = seq_empty {of = f32} : opt<f32[4]>
    %4 = opt_none : seq<f32[4]>
    %5 = opt_none : f32[4]
    %6 = opt_none : opt<seq<f32[4]>>
    ret %x
  }
}
# expect-error: 5:10: the result is f32[4], not a sequence of such tensors
# expect-error: 6:10: the result is seq<f32[4]>, not a sequence of such tensors
# expect-error: 7:10: the result is seq<seq<f32[4]>>, not a sequence of such tensors
# expect-error: 8:10: the result is opt<f32[4]>, not a sequence of such tensors
# expect-error: 9:10: the result is seq<f32[4]>, not an optional
# expect-error: 10:10: the result is f32[4], not an optional
