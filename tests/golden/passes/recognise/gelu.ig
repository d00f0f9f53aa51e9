# ---- erf ----
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
# ---- near_misses ----
# recognise_gelu: another constant, another x, a gate with a second use, f16, a wider
# result: all stay as they are.
# run: recognise_gelu,dce
module @m {
  graph @another_root(%x: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.414} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @another_x(%x: f32[B, 8], %y: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = div %y, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @gate_used_twice(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4, %2
  }
  graph @inverted(%x: f32[B, 8]) -> (f32[B, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = div %root, %x
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @narrow(%x: f16[B, 8]) -> (f16[B, 8]) {
    %root = const {value = 1.4142135} : f16[]
    %one = const {value = 1.0} : f16[]
    %half = const {value = 0.5} : f16[]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @wider(%x: f32[8]) -> (f32[1, 8]) {
    %root = const {value = 1.4142135} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = splat(0.5)} : f32[1, 1]
    %0 = div %x, %root
    %1 = erf %0
    %2 = add %1, %one
    %3 = mul %x, %2
    %4 = mul %3, %half
    ret %4
  }
  graph @another_power(%x: f32[B, 8]) -> (f32[B, 8]) {
    %third = const {value = 0.044715} : f32[]
    %root = const {value = 0.7978846} : f32[]
    %one = const {value = 1.0} : f32[]
    %half = const {value = 0.5} : f32[]
    %0 = mul %x, %x
    %2 = mul %third, %0
    %3 = add %x, %2
    %4 = mul %root, %3
    %5 = tanh %4
    %6 = add %one, %5
    %7 = mul %x, %6
    %8 = mul %half, %7
    ret %8
  }
}
# expect:
module @m {
  graph @another_root(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 1.414} : f32[]
    %1 = const {value = 1} : f32[]
    %2 = const {value = 0.5} : f32[]
    %3 = div %x, %0 : f32[B, 8]
    %4 = erf %3 : f32[B, 8]
    %5 = add %4, %1 : f32[B, 8]
    %6 = mul %x, %5 : f32[B, 8]
    %7 = mul %6, %2 : f32[B, 8]
    ret %7
  }
  graph @another_x(%x: f32[B, 8], %y: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 1.4142135} : f32[]
    %1 = const {value = 1} : f32[]
    %2 = const {value = 0.5} : f32[]
    %3 = div %y, %0 : f32[B, 8]
    %4 = erf %3 : f32[B, 8]
    %5 = add %4, %1 : f32[B, 8]
    %6 = mul %x, %5 : f32[B, 8]
    %7 = mul %6, %2 : f32[B, 8]
    ret %7
  }
  graph @gate_used_twice(%x: f32[B, 8]) -> (f32[B, 8], f32[B, 8]) {
    %0 = const {value = 1.4142135} : f32[]
    %1 = const {value = 1} : f32[]
    %2 = const {value = 0.5} : f32[]
    %3 = div %x, %0 : f32[B, 8]
    %4 = erf %3 : f32[B, 8]
    %5 = add %4, %1 : f32[B, 8]
    %6 = mul %x, %5 : f32[B, 8]
    %7 = mul %6, %2 : f32[B, 8]
    ret %7, %5
  }
  graph @inverted(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 1.4142135} : f32[]
    %1 = const {value = 1} : f32[]
    %2 = const {value = 0.5} : f32[]
    %3 = div %0, %x : f32[B, 8]
    %4 = erf %3 : f32[B, 8]
    %5 = add %4, %1 : f32[B, 8]
    %6 = mul %x, %5 : f32[B, 8]
    %7 = mul %6, %2 : f32[B, 8]
    ret %7
  }
  graph @narrow(%x: f16[B, 8]) -> (f16[B, 8]) {
    %0 = const {value = 1.4140625} : f16[]
    %1 = const {value = 1} : f16[]
    %2 = const {value = 0.5} : f16[]
    %3 = div %x, %0 : f16[B, 8]
    %4 = erf %3 : f16[B, 8]
    %5 = add %4, %1 : f16[B, 8]
    %6 = mul %x, %5 : f16[B, 8]
    %7 = mul %6, %2 : f16[B, 8]
    ret %7
  }
  graph @wider(%x: f32[8]) -> (f32[1, 8]) {
    %0 = const {value = 1.4142135} : f32[]
    %1 = const {value = 1} : f32[]
    %2 = const {value = splat(0.5)} : f32[1, 1]
    %3 = div %x, %0 : f32[8]
    %4 = erf %3 : f32[8]
    %5 = add %4, %1 : f32[8]
    %6 = mul %x, %5 : f32[8]
    %7 = mul %6, %2 : f32[1, 8]
    ret %7
  }
  graph @another_power(%x: f32[B, 8]) -> (f32[B, 8]) {
    %0 = const {value = 0.044715} : f32[]
    %1 = const {value = 0.7978846} : f32[]
    %2 = const {value = 1} : f32[]
    %3 = const {value = 0.5} : f32[]
    %4 = mul %x, %x : f32[B, 8]
    %5 = mul %0, %4 : f32[B, 8]
    %6 = add %x, %5 : f32[B, 8]
    %7 = mul %1, %6 : f32[B, 8]
    %8 = tanh %7 : f32[B, 8]
    %9 = add %2, %8 : f32[B, 8]
    %10 = mul %x, %9 : f32[B, 8]
    %11 = mul %3, %10 : f32[B, 8]
    ret %11
  }
}
# ---- tanh ----
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
