# bias_of_norm: an addend of the normalised axes joins a norm that has a scale.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 2, epsilon = 0.5}
    %1 = add %0, %bias
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[8], %bias: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale, %bias {axis = 2, epsilon = 0.5} : f32[B, 3, 8]
    ret %0
  }
}
