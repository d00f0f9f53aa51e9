# guards: takes away guards that are proved; in a branch one that never holds stays.
# run: guards
module @m {
  graph @main(%c: bool[], %x: f32[A, B]) -> () {
    guard eq(2*A, A + A) "proved"
    guard le(A, A + B) "proved"
    guard eq(A, B) "stays"
    if %c {
      guard eq(3, 4) "never, but perhaps never reached"
      guard eq(4, 4) "proved"
      yield
    } else {
      yield
    }
    ret
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[A, B]) {
    guard eq(A, B) "stays"
    if %c {
      guard eq(3, 4) "never, but perhaps never reached"
      yield
    } else {
      yield
    }
    ret
  }
}
