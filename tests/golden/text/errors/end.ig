# run:
# expect-error: 6:10: operand 0 is bool[], on whose elements relu is not defined
# expect-error: 7:5: if has 1 operands, here are 0
module @end {
  graph @main(%c: bool[]) {
    %0 = relu %c
    if
