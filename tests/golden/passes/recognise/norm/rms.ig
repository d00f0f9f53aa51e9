# recognise_norm: without the mean it is an RMS norm; so is a norm of centred values that
# have another use.
# run: recognise_norm,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
# values: scale plain
module @m {
  graph @rms(%x: f32[B, 3, 8], %scale: f32[8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-06} : f32[]
    %0 = mul %x, %x
    %1 = reduce %0 {op = mean, axes = [2], keep}
    %2 = add %1, %epsilon
    %3 = rsqrt %2
    %4 = mul %x, %3
    %5 = mul %scale, %4
    ret %5
  }
  graph @reciprocal_of_root(%x: f32[B, 3, 8]) -> (f32[B, 3, 8]) {
    %epsilon = const {value = 1e-06} : f32[]
    %0 = mul %x, %x
    %1 = reduce %0 {op = mean, axes = [2], keep}
    %2 = add %1, %epsilon
    %3 = sqrt %2
    %4 = recip %3
    %5 = mul %x, %4
    ret %5
  }
  graph @centred_is_used(%x: f32[B, 3, 8]) -> (f32[B, 3, 8], f32[B, 3, 8]) {
    %epsilon = const {value = 1e-05} : f32[]
    %0 = reduce %x {op = mean, axes = [2], keep}
    %1 = sub %x, %0
    %2 = mul %1, %1
    %3 = reduce %2 {op = mean, axes = [2], keep}
    %4 = add %3, %epsilon
    %5 = sqrt %4
    %6 = div %1, %5
    ret %6, %1
  }
}
# expect:
module @m {
  graph @rms(%x: f32[B, 3, 8], %scale: f32[8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x, %scale {axis = 2, epsilon = 9.999999974752427e-07, rms} : f32[B, 3, 8]
    ret %0
  }
  graph @reciprocal_of_root(%x: f32[B, 3, 8]) -> (f32[B, 3, 8]) {
    %0 = layer_norm %x {axis = 2, epsilon = 9.999999974752427e-07, rms} : f32[B, 3, 8]
    ret %0
  }
  graph @centred_is_used(%x: f32[B, 3, 8]) -> (f32[B, 3, 8], f32[B, 3, 8]) {
    %0 = reduce %x {op = mean, axes = [2], keep} : f32[B, 3, 1]
    %1 = sub %x, %0 : f32[B, 3, 8]
    %2 = layer_norm %1 {axis = 2, epsilon = 9.999999747378752e-06, rms} : f32[B, 3, 8]
    ret %2, %1
  }
}
