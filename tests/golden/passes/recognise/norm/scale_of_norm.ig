# scale_of_norm: a factor of the normalised axes joins the norm.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[1, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x {axis = 1, epsilon = 0.5, rms}
    %1 = mul %scale, %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3, 8], %scale: f32[1, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = reshape %scale {to = [3, 8]} : f32[3, 8]
    %1 = layer_norm %x, %0 {axis = 1, epsilon = 0.5, rms} : f32[B, 3, 8]
    ret %1
  }
}
