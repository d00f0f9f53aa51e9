module @attributes {
  weight @t : f32[4, 2] = splat(1)
  graph @main(%x: f32[4], %b: f32[2, 2, 2]) {
    %0 = softmax %x
    %1 = softmax %x {axis = "0"}
    %2 = softmax %x {axis = 0, axis = 0}
    %3 = softmax %x {axis = 0, log = 1}
    %4 = reduce %x {op = summ}
    %5 = cast %x {to = float}
    %6 = reduce %x {axes = [0, x]}
    %7 = layer_norm %x {axis = 0, epsilon = small}
    %8 = concat %x {axis = 9223372036854775808}
    %9 = dims {values = 3}
    guard eq(4) "one"
    guard lt(4, 5)
    guard {left = 4, right = 5, message = 3}
    %10 = reduce %x {axes = [0] keep}
    %11 = relu %x {,}
    %12 = bag @t, %x {operands = [0], pool = [0]}
    %13 = bag @t, %x {operands = [0], pool = [sum, summ]}
    %14 = bag @t, %x {operands = [0], pool = [sum], last = [sum]}
    %15 = bag @t, %x {operands = [0], pool = sum}
    ret
  }
}
