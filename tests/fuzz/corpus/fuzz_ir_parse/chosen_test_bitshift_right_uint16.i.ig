module @model {
  graph @main(%x: u16[3], %y: u16[3]) -> (u16[3] "z") {
    %0 = shr %x, %y : u16[3] "z"
    ret %0
  }
}
