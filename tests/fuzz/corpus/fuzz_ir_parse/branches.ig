module @branches {
  graph @main(%c: bool[], %f: f32[], %x: f32[4], %i: i64[4]) {
    %0 = if %f : f32[4] { yield %x } else { yield %x }
    %1 = if %c : f32[4] { yield %x } else { yield %i }
    %2 = if %c : f32[4] { yield } else { yield %x, %x }
    %3 = if %c : f32[4] (%y: f32[4]) { yield %y } else { yield %x }
    ret
  }
}
