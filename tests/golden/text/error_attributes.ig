# Attributes: of the kind that the op's row says, once, and all that it needs.
# run:
module @attributes {
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
    ret
  }
}
# expect-error: 5:10: softmax needs attribute 'axis'
# expect-error: 6:29: expected an integer, found '"0"'
# expect-error: 7:32: attribute 'axis' is given twice
# expect-error: 8:38: expected true or false, found '1'
# expect-error: 9:26: expected one of sum, mean, max, min, prod, sumsq, l1, l2, logsum, logsumexp, found 'summ'
# expect-error: 10:24: expected an element type, found 'float'
# expect-error: 11:32: expected an integer, found 'x'
# expect-error: 12:45: 'small' is not a number
# expect-error: 13:28: this is no 64-bit integer
# expect-error: 14:25: expected '[', found '3'
# expect-error: 15:15: expected ',', found ')'
# expect-error: 16:11: expected eq or le, found 'lt'
# expect-error: 17:43: expected a quoted string, found '3'
# expect-error: 18:33: expected ',' or '}', found 'keep'
# expect-error: 19:20: expected an attribute, found ','
