# bufferise: what cannot be compiled yet says so, with what to do.
# run: fuse,bufferise
module @m {
  graph @main(%x: f32[B]) -> (f32[B] "o") {
    %0 = cumsum %x {axis = 0} : f32[B]
    ret %0
  }
}
# expect-error: 'cumsum' cannot be compiled yet
