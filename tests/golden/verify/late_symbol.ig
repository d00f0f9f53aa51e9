# A buffer whose extent has no value yet cannot be written, nor a view be taken of it.
# run: verify
module @late_symbol {
  plan @main(%x: f32[B], %count: i64[1]) -> (&f32[n]) {
    %0 = alloc : &f32[n]
    compute %x, %0 {family = "copy", outs = 1} (%1: f32[B]) {
      yield %1
    }
    bind %count {symbols = [n]}
    compute %x, %0 {family = "copy", outs = 1} (%2: f32[B]) {
      yield %2
    }
    %3 = view %0 {offset = m, strides = [1]} : &f32[B]
    compute %x, %3 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %0
  }
}
# expect-error: 6:5: 'n' has no value yet
# expect-error: 14:5: 'm' has no value yet
