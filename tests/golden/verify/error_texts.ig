# Nothing computes with texts, or makes them of numbers.
# run:
module @texts {
  graph @main(%x: str[4], %n: i64[4]) -> (str[4]) {
    %0 = cumsum %x {axis = 0}
    ret %x
  }
}
# expect-error:
