# A loop's arguments, yields and results fit each other.
# run: verify
module @loops {
  graph @main(%n: i64[], %c: bool[], %x: f32[4], %s: seq<f32[4]>) {
    %0 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[]) {
      yield %k, %x
    }
    %1 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[], %y: f32[4]) {
      yield %y
    }
    %2 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[], %y: i32[4]) {
      yield %k, %y
    }
    %3 = loop %n, %c, %x {scans = 1} : f32[4] (%i: i64[], %k: bool[], %y: f32[4]) {
      yield %k, %y
    }
    %4 = loop %n, %c {scans = 1} : f32[4] (%i: i64[], %k: bool[]) {
      yield %k, %x
    }
    %5 = loop %n, %c {scans = 1} : f32[T, 4] (%i: f32[], %k: i64[]) {
      yield %c, %x
    }
    loop %c, %n (%i: i64[], %k: bool[]) { yield %k }
    %6 = loop %n, %c, %s : seq<f32[4]> (%i: i64[], %k: bool[], %y: seq<i32[4]>) {
      yield %k, %s
    }
    ret
  }
}
# expect-error: 5:10: body 0 must have 3 arguments, not 2
# expect-error: 8:10: body 0 must yield 2 values, not 1
# expect-error: 11:10: carried value 0 changes its type
# expect-error: 14:10: 1 values carried and 1 scanned are not 1 results
# expect-error: 17:10: result 0 does not stack what the body yields
# expect-error: 20:10: argument 0 must be one i64, not f32[]
# expect-error: 20:10: argument 1 must be one bool, not i64[]
# expect-error: 23:5: the trip count must be one i64, not bool[]
# expect-error: 23:5: the condition must be one bool, not i64[]
# expect-error: 24:10: carried value 0 changes its type
