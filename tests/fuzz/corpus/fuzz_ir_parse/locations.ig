module @m {
  graph @g(%x: f32[2]) -> (f32[2]) {
    %0 = layer_norm %x {axis = 0, epsilon = -0.5} : f32[2] "n" loc {file = "a.onnx", graph = "then", node = "n\"1", op = "Relu", number = 12, line = 3, column = 4}
    %1 = isinf %0 {skip_positive = true, skip_negative = false} loc {}
    %2 = cast %0 {to = bf16}
    ret %0 loc {number = 13,}
  }
}
