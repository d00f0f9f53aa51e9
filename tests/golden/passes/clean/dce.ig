# dce: removes ops that nobody needs, in bodies too; guards stay, and what holds them.
# run: dce
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B]) {
    %0 = relu %x
    %1 = neg %0
    %2 = if %c : f32[B] {
      %3 = abs %x
      %4 = neg %x
      yield %4
    } else {
      yield %x
    }
    %5 = if %c : f32[B] {
      %6 = abs %x
      guard eq(B, 4) "four"
      yield %6
    } else {
      yield %x
    }
    %7 = div %x, %y
    guard le(1, B) "not empty"
    ret %y
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B]) {
    %0 = if %c : f32[B] {
      %1 = abs %x : f32[B]
      guard eq(B, 4) "four"
      yield %1
    } else {
      yield %x
    }
    guard le(1, B) "not empty"
    ret %y
  }
}
