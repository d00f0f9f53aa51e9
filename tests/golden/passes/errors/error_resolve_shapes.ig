# resolve_shapes: an extent that nothing gives a value is said.
# run: resolve_shapes
module @m {
  graph @main(%x: seq<f32[n]>, %i: i64[]) -> (f32[n] "o") {
    %0 = seq_at %x, %i : f32[n]
    ret %0
  }
}
# expect-error: 'seq_at' cannot be compiled yet where the size of its result depends on data
