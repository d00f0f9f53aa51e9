# bufferise: an old value that is read behind the scatter in the text, or returned, keeps the
# new one in a buffer of its own; so does a view of it that is a result.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", f32[T] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[T]
    %1 = mul %0, %k : f32[T]
    ret %0, %1 {in_place = [0, -1]}
  }
  graph @view(%k: f32[4], %p: i64[1], %x: f32[1]) -> (f32[4] "k1", f32[2, 2] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[4]
    %1 = reshape %0 {to = [2, 2]} : f32[2, 2]
    ret %0, %1 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", &f32[T] "y") {
    %0 = alloc : &f32[T]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[T], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[T]
      yield %4
    }
    %5 = alloc : &f32[T]
    compute %0, %k, %5 {family = "map", outs = 1} (%6: f32[T], %7: f32[T]) {
      %8 = mul %6, %7 : f32[T]
      yield %8
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%9: f32[T]) {
      yield %9
    }
    ret %k, %5 {in_place = [0, -1]}
  }
  plan @view(%k: f32[4], %p: i64[1], %x: f32[1]) -> (f32[4] "k1", &f32[2, 2] "y") {
    %0 = alloc : &f32[4]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[4], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[4]
      yield %4
    }
    %5 = alloc : &f32[2, 2]
    %6 = view %0 {offset = 0, strides = [2, 1]} : &f32[2, 2]
    compute %6, %5 {family = "copy", outs = 1} (%7: f32[2, 2]) {
      yield %7
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%8: f32[4]) {
      yield %8
    }
    ret %k, %5 {in_place = [0, -1]}
  }
}
