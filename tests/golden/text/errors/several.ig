# Several errors of one file are all reported; what follows from them is not.
# run:
module @several {
  graph @main(%x: f32[B], %c: bool[]) {
    %0 = frob %x
    %1 = relu %0
    if %c {
      %2 = relu %x {foo = 1}
      yield %2, %1
    } else {
      %2 = relu %x %x
      yield
    }
    %3 = add %x
    loop %c, %unknown {
      what { is this } %
    }
    $
    ret %3
  }
  weigth @w : f32[2] = [1, 2]
  graph @main() {
  }
}
# expect-error: 5:10: there is no op 'frob'
# expect-error: 8:21: relu has no attribute 'foo'
# expect-error: 11:20: expected the next statement on a line of its own, found '%x'
# expect-error: 14:10: add has 2 operands, here are 1
# expect-error: 15:14: %unknown is not defined
# expect-error: 18:5: a character that no token begins with
# expect-error: 21:3: expected symbol, weight, table, graph, plan or kernel, found 'weigth'
# expect-error: 22:9: there is a graph @main already
