# bufferise: a shape that is read is stored; host functions get destinations.
# run: resolve_shapes,fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[A, B], %r: i64[2]) -> (i64[2] "s", f32[n, n2] "o") {
    %0 = dims {values = [A, B]} : i64[2]
    %1 = expand %x, %r : f32[n, n2]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol n2 {origin = "an extent that the model computes"}
  plan @main(%x: f32[A, B], %r: i64[2]) -> (&i64[2] "s", &f32[n, n2] "o") {
    %0 = alloc : &i64[2]
    store_dims %0 {values = [A, B]}
    %1 = alloc : &i64[2]
    store_dims %1 {values = [A, B]}
    %2 = alloc : &i64[2]
    host %1, %r, %2 {function = "expand_bounds", outs = 1, params = [2, 2]}
    bind %2 {symbols = [n, n2]}
    %3 = alloc : &f32[n, n2]
    %4 = view %x {offset = 0, strides = [B*max(0, min(A - 1, 1)), max(0, min(B - 1, 1))]} : &f32[n, n2]
    compute %4, %3 {family = "copy", outs = 1} (%5: f32[n, n2]) {
      yield %5
    }
    ret %0, %3
  }
}
