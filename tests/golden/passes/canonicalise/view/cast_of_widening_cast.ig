# cast_of_widening_cast: a cast to a dtype that holds every value changes nothing for the cast behind it.
# run: canonicalise
module @m {
  graph @main(%x: f16[B], %i: i64[B], %p: bool[B]) -> (f32[B], i64[B], f32[B]) {
    %0 = cast %x {to = f64}
    %1 = cast %0 {to = f32}
    %2 = cast %i {to = i32}
    %3 = cast %2 {to = i64}
    %4 = cast %p {to = i32}
    %5 = cast %4 {to = f32}
    ret %1, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f16[B], %i: i64[B], %p: bool[B]) -> (f32[B], i64[B], f32[B]) {
    %0 = cast %x {to = f32} : f32[B]
    %1 = cast %i {to = i32} : i32[B]
    %2 = cast %1 {to = i64} : i64[B]
    %3 = cast %p {to = f32} : f32[B]
    ret %0, %2, %3
  }
}
