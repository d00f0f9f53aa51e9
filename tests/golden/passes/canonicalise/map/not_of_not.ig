# not_of_not: not(not(x)) is x.
# run: canonicalise
module @m {
  graph @main(%x: bool[B]) -> (bool[B]) {
    %0 = not %x
    %1 = not %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: bool[B]) -> (bool[B]) {
    ret %x
  }
}
