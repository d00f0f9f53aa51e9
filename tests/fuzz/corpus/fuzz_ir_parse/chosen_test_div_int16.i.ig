module @model {
  graph @main(%x: i16[3, 4, 5], %y: i16[3, 4, 5]) -> (i16[3, 4, 5] "z") {
    %0 = div %x, %y : i16[3, 4, 5] "z"
    ret %0
  }
}
