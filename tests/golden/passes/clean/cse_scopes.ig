# cse: what stands in a block around is known inside; what stands in one branch is not known in the other, nor behind.
# run: cse
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (f32[B], f32[B], f32[B]) {
    %0 = relu %x
    %1 = if %c : f32[B] {
      %2 = relu %x
      %3 = neg %2
      yield %3
    } else {
      %4 = neg %0
      guard eq(B, 4) "four"
      yield %4
    }
    %5 = neg %0
    %6 = if %c : f32[B] {
      %7 = neg %0
      yield %7
    } else {
      guard eq(B, 4) "four"
      yield %x
    }
    ret %1, %5, %6
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (f32[B], f32[B], f32[B]) {
    %0 = relu %x : f32[B]
    %1 = if %c : f32[B] {
      %2 = neg %0 : f32[B]
      yield %2
    } else {
      %3 = neg %0 : f32[B]
      guard eq(B, 4) "four"
      yield %3
    }
    %4 = neg %0 : f32[B]
    %5 = if %c : f32[B] {
      yield %4
    } else {
      guard eq(B, 4) "four"
      yield %x
    }
    ret %1, %4, %5
  }
}
