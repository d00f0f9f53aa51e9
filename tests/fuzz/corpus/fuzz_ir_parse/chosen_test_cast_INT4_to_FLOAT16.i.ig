module @model {
  graph @main(%input: i4[5, 5]) -> (f16[5, 5] "output") {
    %0 = cast %input {to = f16} : f16[5, 5] "output"
    ret %0
  }
}
