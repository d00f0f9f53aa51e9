module @bodies {
  kernel @more(%x: &f32, %n: i64) {
    %0 = local {count = 0} : &f32
    %1 = iota : i64<4>
    %2 = shuffle %1, %1 {lanes = [0, 8]} : i64<2>
    %3 = shuffle %1, %1 {lanes = [0, 1]} : i64<4>
    %4 = extract %1, %n : i64<4>
    %5 = scratch {offset = -8} : &f32
    for %n, %n, %n (%i: i64) {
      %6 = local {count = 8} : &f32
      %7, %8 = tiles : i64, i64
      yield
    }
    %9 = for %n, %n, %n, %1 : i64<4> (%i: i64, %s: i64<8>) {
      yield %1
    }
    for %n, %n, %1 (%i: i64) { yield }
    for %n, %n, %n { yield }
    %10 = for %n, %n, %n : i64 (%i: i64) { yield }
    ret
  }
}
