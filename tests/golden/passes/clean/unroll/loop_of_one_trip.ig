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
