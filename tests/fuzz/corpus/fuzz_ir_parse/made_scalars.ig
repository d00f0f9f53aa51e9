module @scalars {
  graph @main(%x: f32[B, 4], %y: f32[B, 4], %a: i64[B, 4], %b: i64[B, 4]) -> (f32[B, 4], i64[B, 4], i64[B, 4]) {
    %0 = erfinv %x : f32[B, 4]
    %1 = lgamma %0 : f32[B, 4]
    %2 = digamma %1 : f32[B, 4]
    %3 = hypot %2, %y : f32[B, 4]
    %4 = copysign %3, %y : f32[B, 4]
    %5 = nextafter %4, %y : f32[B, 4]
    %6 = gcd %a, %b : i64[B, 4]
    %7 = lcm %6, %b : i64[B, 4]
    %8 = cumulate_index %x {op = max, axis = 1} : i64[B, 4]
    ret %5, %7, %8
  }
}
