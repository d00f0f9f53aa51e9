module @end {
  graph @main(%c: bool[]) {
    %0 = relu %c
    if
