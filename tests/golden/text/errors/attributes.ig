# Attributes: of the kind that the op's row says, once, and all that it needs.
# run:
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
# expect-error: 6:10: softmax needs attribute 'axis'
# expect-error: 7:29: expected an integer, found '"0"'
# expect-error: 8:32: attribute 'axis' is given twice
# expect-error: 9:38: expected true or false, found '1'
# expect-error: 10:26: expected one of sum, mean, max, min, prod, sumsq, l1, l2, logsum, logsumexp, found 'summ'
# expect-error: 11:24: expected an element type, found 'float'
# expect-error: 12:32: expected an integer, found 'x'
# expect-error: 13:45: 'small' is not a number
# expect-error: 14:28: this is no 64-bit integer
# expect-error: 15:25: expected '[', found '3'
# expect-error: 16:15: expected ',', found ')'
# expect-error: 17:11: expected eq or le, found 'lt'
# expect-error: 18:43: expected a quoted string, found '3'
# expect-error: 19:33: expected ',' or '}', found 'keep'
# expect-error: 20:20: expected an attribute, found ','
# expect-error: 21:47: expected one of sum, mean, max, none, found '0'
# expect-error: 22:52: expected one of sum, mean, max, none, found 'summ'
# expect-error: 23:61: expected one of ids, offset, mean, rest, found 'sum'
# expect-error: 24:46: expected '[', found 'sum'
