module @model {
  graph @main(%x: f8e5m2[5], %x_scale: f32[]) -> (f32[5] "y") {
    %0 = dequantize %x, %x_scale : f32[5] "y"
    ret %0
  }
}
