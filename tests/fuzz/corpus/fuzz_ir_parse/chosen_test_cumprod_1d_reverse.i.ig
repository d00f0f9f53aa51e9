module @model {
  graph @main(%x: f64[5], %axis: i32[]) -> (f64[5] "y") {
    %0 = cumulate %x {axis = 0, reverse} : f64[5] "y"
    ret %0
  }
}
