# if_with_equal_results: a result that both branches hand through from outside is that value.
# The guard keeps the if.
# run: canonicalise
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = if %c : f32[B] {
      yield %x
    } else {
      yield %x
    }
    %1 = if %c : f32[B] {
      guard le(1, B) "not empty"
      yield %y
    } else {
      yield %y
    }
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = if %c : f32[B] {
      guard le(1, B) "not empty"
      yield %y
    } else {
      yield %y
    }
    ret %x, %y
  }
}
