module @ends {
  graph @none() {
  }
  graph @relu(%x: f32[]) {
    %0 = relu %x
  }
  graph @yields(%x: f32[]) {
    yield %x
  }
  graph @twice(%x: f32[]) {
    ret %x
    ret %x
  }
  graph @branch(%c: bool[]) {
    if %c { ret } else { guard eq(A, 1) }
    ret
  }
}
