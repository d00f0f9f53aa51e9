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
