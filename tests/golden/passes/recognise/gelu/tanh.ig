# recognise_gelu: by tanh, the cube as products, as a power, and with x taken out.
# run: recognise_gelu,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @products(%x: f32[B, 8]) -> (f32[B, 8]) {
    %third = const {value = 0.044715} : f32[]
    %root = const {value = 0.7978846} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = mul %x, %x
    %1 = mul %x, %0
    %2 = mul %third, %1
    %3 = add %x, %2
    %4 = mul %root, %3
    %5 = tanh %4
    %6 = add %one, %5
    %7 = mul %x, %6
    %8 = mul %half, %7
    ret %8
  }
  graph @power(%x: f32[B, 8]) -> (f32[B, 8]) {
    %three = const {value = 3.0} : f32[]
    %third = const {value = 0.044715} : f32[]
    %root = const {value = 0.7978846} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = mul %half, %x
    %1 = pow %x, %three
    %2 = mul %1, %third
    %3 = add %2, %x
    %4 = mul %3, %root
    %5 = tanh %4
    %6 = add %5, %one
    %7 = mul %0, %6
    ret %7
  }
  graph @factor(%x: f32[B, 8]) -> (f32[B, 8]) {
    %third = const {value = 0.044715} : f32[]
    %root = const {value = 0.7978846} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = mul %half, %x
    %1 = mul %x, %root
    %2 = mul %x, %third
    %3 = mul %2, %x
    %4 = add %3, %one
    %5 = mul %1, %4
    %6 = tanh %5
    %7 = add %6, %one
    %8 = mul %0, %7
    ret %8
  }
}
# expect:
module @m {
  graph @products(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x {tanh} : f32[B, 8]
    ret %0
  }
  graph @power(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x {tanh} : f32[B, 8]
    ret %0
  }
  graph @factor(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x {tanh} : f32[B, 8]
    ret %0
  }
}
