# relu_of_relu: relu(relu(x)) is relu(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = relu %x
    %1 = relu %0
    %2 = relu %1
    ret %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = relu %x : f32[B]
    ret %0
  }
}
