module @model {
  graph @main(%input: i2[7, 1]) -> (i8[7, 1] "output") {
    %0 = cast %input {to = i8} : i8[7, 1] "output"
    ret %0
  }
}
