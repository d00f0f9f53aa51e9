# loop_without_trips: a loop that never starts hands its carried values on.
# run: unroll,canonicalise
module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 0} : i64[]
    %1 = loop %0, %c, %x : f32[B] (%i: i64[], %k: bool[], %a: f32[B]) {
      %2 = relu %a
      guard eq(B, 7) "never runs"
      yield %k, %2
    }
    %3 = const {value = false} : bool[]
    %4 = loop %n, %3, %x : f32[B] (%i: i64[], %k: bool[], %a: f32[B]) {
      %5 = relu %a
      yield %k, %5
    }
    ret %1, %4
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B]) -> (f32[B], f32[B]) {
    ret %x, %x
  }
}
