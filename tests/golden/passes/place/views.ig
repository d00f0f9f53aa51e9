# ---- resolve_shapes_custom ----
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
# ---- slice_of_nothing ----
# bufferise: of two axes without elements only the first begins behind the last element.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%x: f32[2, 3]) -> (f32[0, 0], f32[2, 0]) {
    %0 = slice %x {starts = [2, 3], sizes = [0, 0]} : f32[0, 0]
    %1 = relu %0 : f32[0, 0]
    %2 = slice %x {starts = [0, 3], sizes = [2, 0]} : f32[2, 0]
    %3 = relu %2 : f32[2, 0]
    ret %1, %3
  }
}
# expect:
module @m {
  plan @main(%x: f32[2, 3]) -> (&f32[0, 0], &f32[2, 0]) {
    %0 = view %x {offset = 6, strides = [3, 1]} : &f32[0, 0]
    %1 = alloc : &f32[0, 0]
    compute %0, %1 {family = "map", outs = 1} (%2: f32[0, 0]) {
      %3 = relu %2 : f32[0, 0]
      yield %3
    }
    %4 = view %x {offset = 3, strides = [3, 1]} : &f32[2, 0]
    %5 = alloc : &f32[2, 0]
    compute %4, %5 {family = "map", outs = 1} (%6: f32[2, 0]) {
      %7 = relu %6 : f32[2, 0]
      yield %7
    }
    ret %1, %5
  }
}
