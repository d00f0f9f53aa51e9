# recognise_gelu: by erf, in the orders and groupings that exporters write.
# run: recognise_gelu,dce
# within: 1e-5 the row rounds otherwise than the ops it stands for
module @m {
  graph @half_last(%x: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @half_first(%x: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = [0.70710677]} : f32[1]
    %one = const {value = [1.0]} : f32[1]
    %half = const {value = [0.5]} : f32[1]
    %0 = mul %half, %x
    %1 = mul %root, %x
    %2 = erf %1
    %3 = add %one, %2
    %4 = mul %3, %0
    ret %4
  }
  graph @half_of_gate(%x: f64[B, 8]) -> (f64[B, 8]) {
    %root = const {value = 1.4142135623730951} : f64[]
    %one = const {value = 1.0} : f64[]
    %half = const {value = 0.5} : f64[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %2, %half
    %4 = mul %x, %3
    ret %4
  }
  graph @halved(%x: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %two = const {value = 2.0} : f32[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = div %3, %two
    ret %4
  }
  graph @of_product(%y: f32[B, 8], %z: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %x = mul %y, %z
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    %5 = mul %4, %y
    ret %5
  }
}
# expect:
module @m {
  graph @half_last(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x : f32[B, 8]
    ret %0
  }
  graph @half_first(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x : f32[B, 8]
    ret %0
  }
  graph @half_of_gate(%x: f64[B, 8]) -> (f64[B, 8]) {
    %0 = gelu %x : f64[B, 8]
    ret %0
  }
  graph @halved(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = gelu %x : f32[B, 8]
    ret %0
  }
  graph @of_product(%y: f32[B, 8], %z: f32[B, 8]) -> (f32[B, 8]) {
    %0 = mul %y, %z : f32[B, 8]
    %1 = gelu %0 : f32[B, 8]
    %2 = mul %1, %y : f32[B, 8]
    ret %2
  }
}
