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
