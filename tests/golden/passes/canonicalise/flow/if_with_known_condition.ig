# if_with_known_condition: of an if whose condition is known one branch is left.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[4]) -> (f32[B], f32[B], f32[4]) {
    %0 = const {value = true} : bool[]
    %1, %2 = if %0 : f32[B], f32[B] {
      %3 = relu %x
      guard le(1, B) "not empty"
      yield %3, %x
    } else {
      guard eq(B, 7) "never runs"
      %4 = neg %x
      yield %4, %4
    }
    %5 = const {value = false} : bool[]
    %6 = if %5 : f32[4] {
      %7 = abs %y
      yield %7
    } else {
      yield %y
    }
    ret %1, %2, %6
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[4]) -> (f32[B], f32[B], f32[4]) {
    %0 = relu %x : f32[B]
    guard le(1, B) "not empty"
    ret %0, %x, %y
  }
}
