# ---- extents_of_one_trip ----
# unroll: what a body's guards say of an argument's extent holds for what it starts with.
# run: unroll
module @model {
  graph @main(%x: f32[a, b]) -> (f32[a, c]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = true} : bool[]
    %2 = loop %0, %1, %x : f32[a, c] (%i: i64[], %go: bool[], %y: f32[a, n]) {
      guard eq(n, 3) "the width"
      %3 = relu %y : f32[a, n]
      %4 = expand %3 {to = [a, 3]} : f32[a, 3]
      yield %go, %4
    }
    ret %2
  }
}
# expect:
module @model {
  graph @main(%x: f32[a, b]) -> (f32[a, 3]) {
    guard eq(b, 3) "the width"
    %0 = relu %x : f32[a, b]
    %1 = expand %0 {to = [a, 3]} : f32[a, 3]
    ret %1
  }
}
# ---- loop_of_one_trip ----
# loop_of_one_trip: a loop of one trip is its body; what it scans gets an axis in front.
# run: unroll,canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[1, B]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = true} : bool[]
    %2, %3 = loop %0, %1, %x {scans = 1} : f32[B], f32[1, B] (%i: i64[], %k: bool[], %a: f32[B]) {
      %4 = cast %i {to = f32}
      %5 = add %a, %4
      %6 = neg %5
      yield %k, %5, %6
    }
    ret %2, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[1, B]) {
    %0 = const {value = 0} : i64[]
    %1 = cast %0 {to = f32} : f32[]
    %2 = add %x, %1 : f32[B]
    %3 = neg %2 : f32[B]
    %4 = reshape %3 {to = [1, B]} : f32[1, B]
    ret %2, %4
  }
}
# ---- loop_without_trips ----
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
