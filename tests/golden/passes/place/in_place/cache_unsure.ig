# bufferise: what reads a cache and reports keeps the cache's new value in front of commit;
# so does a read of the old value that comes later.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", f32[1] "y") {
    %0 = scatter_elements %k, %p, %x {axis = 0} : f32[T]
    %1 = gather %0, %p {axis = 0} : f32[1]
    ret %0, %1 {in_place = [0, -1]}
  }
}
# expect:
module @m {
  plan @main(%k: f32[T], %p: i64[1], %x: f32[1]) -> (f32[T] "k1", &f32[1] "y") {
    %0 = alloc : &f32[T]
    compute %k, %p, %x, %0 {family = "scatter", outs = 1} (%1: f32[T], %2: i64[1], %3: f32[1]) {
      %4 = scatter_elements %1, %2, %3 {axis = 0} : f32[T]
      yield %4
    }
    %5 = alloc : &f32[1]
    compute %0, %p, %5 {family = "gather", outs = 1} (%6: f32[T], %7: i64[1]) {
      %8 = gather %6, %7 {axis = 0} : f32[1]
      yield %8
    }
    commit
    compute %0, %k {family = "copy", outs = 1} (%9: f32[T]) {
      yield %9
    }
    ret %k, %5 {in_place = [0, -1]}
  }
}
