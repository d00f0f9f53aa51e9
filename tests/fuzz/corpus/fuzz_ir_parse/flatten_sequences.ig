module @m {
  graph @main(%s: seq<f32[k, 4]>, %x: f32[B, 4], %p: i64[]) -> (seq<f32[k2, 4]> "t", f32[n, 4] "y") {
    %0 = seq_insert %s, %x : seq<f32[k2, 4]>
    %1 = seq_at %0, %p : f32[n, 4]
    ret %0, %1
  }
}
