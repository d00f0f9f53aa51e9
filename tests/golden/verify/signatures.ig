# A signature has a leaf for each argument and result; a state begins with a weight.
# run: verify
module @wrong {
  weight @n : i64[] = 0
  weight @r : f32[2] = [0, 1]
  graph @few(%x: f32[3], %y: f32[3]) as f(x: tensor) -> tensor {
    ret %x
  }
  graph @many(%x: f32[3]) as f(x: tensor) -> (tensor, int) {
    ret %x
  }
  graph @nothing(%n: i64[] = @m) {
    ret %n
  }
  graph @other(%n: i64[3] = @r) {
    ret %n
  }
  graph @gone(%n: i64[] = @n) {
    ret
  }
}
# expect-error: in 'few': the signature has 1 leaves, the graph 2 arguments
# expect-error: in 'many': the signature's result has 2 leaves, the graph 1 results
# expect-error: in 'nothing': state 0 begins with @m, which there is not
# expect-error: in 'other': state @r is i64[3] before
# expect-error: in 'other': state @r is i64[3] behind
# expect-error: in 'gone': 1 states, but fewer arguments or results
