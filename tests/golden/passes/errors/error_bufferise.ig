# bufferise: what cannot be compiled yet says so, with what to do.
# run: fuse,bufferise
module @m {
  graph @main(%x: f32[B]) -> (seq<f32[B]> "o") {
    %0 = seq_make %x : seq<f32[B]>
    ret %0
  }
}
# expect-error: 'seq_make' cannot be compiled yet
