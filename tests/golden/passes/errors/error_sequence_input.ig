# bufferise: programs take tensors, so a sequence is not taken for one.
# run: fuse,bufferise
module @m {
  graph @main(%x: seq<f32[B]>) -> (seq<f32[B]> "o") {
    ret %x
  }
}
# expect-error: inputs that are sequences cannot be compiled yet
