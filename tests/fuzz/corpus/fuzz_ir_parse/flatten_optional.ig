module @m {
  graph @main(%x: opt<f32[k]>, %p: i64[]) -> (opt<f32[k]> "x", i64[], f32[n]) {
    %0 = seq_length %x : i64[]
    %1 = seq_at %x, %p : f32[n]
    ret %x, %0, %1
  }
}
