# Both branches yield what the if gives.
# run: verify
module @branches {
  graph @main(%c: bool[], %f: f32[], %x: f32[4], %i: i64[4]) {
    %0 = if %f : f32[4] { yield %x } else { yield %x }
    %1 = if %c : f32[4] { yield %x } else { yield %i }
    %2 = if %c : f32[4] { yield } else { yield %x, %x }
    %3 = if %c : f32[4] (%y: f32[4]) { yield %y } else { yield %x }
    ret
  }
}
# expect-error: 5:10: the condition must be one bool, not f32[]
# expect-error: 6:10: body 1 yields i64[4] for result 0
# expect-error: 7:10: body 0 must yield 1 values, not 0
# expect-error: 7:10: body 1 must yield 1 values, not 2
# expect-error: 8:10: body 0 must have 0 arguments, not 1
