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
