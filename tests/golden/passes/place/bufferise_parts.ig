# bufferise: parts whose extents only the run finds to agree are copied into a concat, not computed there.
# run: resolve_shapes,fuse,bufferise
# then: lower
# values: from below 3
# values: to below 6
module @m {
  graph @main(%x: f32[A, 2], %y: f32[A, 3], %from: i64[1], %to: i64[1]) -> (f32[n, 5] "o") {
    %0 = slice %x, %from, %to : f32[n, 2]
    %1 = slice %y, %from, %to : f32[m, 3]
    %2 = exp %0 : f32[n, 2]
    %3 = exp %1 : f32[m, 3]
    guard eq(n, m)
    %4 = concat %2, %3 {axis = 1} : f32[n, 5]
    ret %4
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  symbol m {origin = "an extent that the model computes"}
  symbol start {origin = "a number that the model computes"}
  symbol start2 {origin = "a number that the model computes"}
  symbol extent {origin = "a number that the model computes"}
  symbol start3 {origin = "a number that the model computes"}
  symbol start4 {origin = "a number that the model computes"}
  symbol extent2 {origin = "a number that the model computes"}
  weight @shape : i64[1] = [0]
  weight @shape_2 : i64[1] = [1]
  weight @shape_3 : i64[1] = [0]
  weight @shape_4 : i64[1] = [1]
  plan @main(%x: f32[A, 2], %y: f32[A, 3], %from: i64[1], %to: i64[1]) -> (&f32[n, 5] "o") {
    %0 = alloc : &i64[2]
    store_dims %0 {values = [A, 2]}
    %1 = alloc : &i64[6]
    host %0, %from, %to, @shape, @shape_2, %1 {function = "slice_bounds", outs = 1, params = [2, 1]}
    bind %1 {symbols = [start, start2, n, extent]}
    %2 = alloc : &i64[2]
    store_dims %2 {values = [A, 3]}
    %3 = alloc : &i64[6]
    host %2, %from, %to, @shape_3, @shape_4, %3 {function = "slice_bounds", outs = 1, params = [2, 1]}
    bind %3 {symbols = [start3, start4, m, extent2]}
    %4 = view %x {offset = 2*start + start2, strides = [2, 1]} : &f32[n, 2]
    %5 = alloc : &f32[n, 5]
    %6 = view %5 {offset = 0, strides = [5, 1]} : &f32[n, 2]
    compute %4, %6 {family = "map", outs = 1} (%7: f32[n, 2]) {
      %8 = exp %7 : f32[n, 2]
      yield %8
    }
    %9 = view %y {offset = 3*start3 + start4, strides = [3, 1]} : &f32[m, 3]
    %10 = alloc : &f32[m, 3]
    compute %9, %10 {family = "map", outs = 1} (%11: f32[m, 3]) {
      %12 = exp %11 : f32[m, 3]
      yield %12
    }
    guard eq(n, m)
    %13 = view %5 {offset = 2, strides = [5, 1]} : &f32[m, 3]
    compute %10, %13 {family = "copy", outs = 1} (%14: f32[m, 3]) {
      yield %14
    }
    ret %5
  }
}
