# Kernels: arrays, lanes, and what passes through a for.
# run: verify
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
# expect-error: 5:10: an array has at least one element
# expect-error: 7:10: a lane beyond both vectors
# expect-error: 8:10: as many lanes as are named
# expect-error: 9:10: result 0 must be a scalar, not i64<4>
# expect-error: 10:10: an offset is not negative
# expect-error: 12:12: this op stands at the kernel's top level only
# expect-error: 13:16: this op stands at the kernel's top level only
# expect-error: 16:10: carried value 0 changes its type
# expect-error: 19:5: a bound must be one i64, not i64<4>
# expect-error: 20:5: body 0 must have 1 arguments, not 0
# expect-error: 21:11: 0 values carried are not 1 results
