# resolve_shapes: a library finds the extents that only results of its operator have.
# run: resolve_shapes
# then: fuse,bufferise
# not run: the library of a::b is its user's
module @m {
  graph @main(%x: f32[N]) -> (f32[K, 2] "o", i64[N] "p") {
    %0, %1 = custom %x {function = "a::b", version = 3, own = [0, 0]} : f32[K, 2], i64[N]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol K {origin = "an extent that the model computes"}
  graph @main(%x: f32[N]) -> (f32[K, 2] "o", i64[N] "p") {
    %0 = custom %x {function = "a::b", version = 3, extents} : i64[1]
    bind %0 {symbols = [K]}
    %1, %2 = custom %x {function = "a::b", version = 3, own = [0, 0]} : f32[K, 2], i64[N]
    ret %1, %2
  }
}
