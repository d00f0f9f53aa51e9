# prepare: a weight that the run writes in place is read before commit.
# run: fuse,bufferise,order,tile_rows,prepare
# then: lower
# within: 1e-5 sums are made in another order
module @m {
  graph @main(%x: f32[4], %w: f32[4] {opened}) -> (f32[4] "y", f32[4] "next") {
    %0 = reduce %w {op = sum, axes = [0], keep = true} : f32[1]
    %1 = mul %x, %0 : f32[4]
    %2 = sub %w, %x : f32[4]
    ret %1, %2 {in_place = [-1, 1]}
  }
}
# expect:
module @m {
  plan @main(%x: f32[4], %w: f32[4] {opened}) -> (&f32[4] "y", f32[4] "next") {
    %0 = alloc : &f32[1]
    prepare {
      compute %w, %0 {family = "reduce", outs = 1} (%1: f32[4]) {
        %2 = reduce %1 {op = sum, axes = [0], keep} : f32[1]
        yield %2
      }
      yield
    }
    %3 = alloc : &f32[4]
    compute %x, %0, %3 {family = "map", outs = 1} (%4: f32[4], %5: f32[1]) {
      %6 = mul %4, %5 : f32[4]
      yield %6
    }
    commit
    compute %w, %x, %w {family = "map", outs = 1} (%7: f32[4], %8: f32[4]) {
      %9 = sub %7, %8 : f32[4]
      yield %9
    }
    ret %3, %w {in_place = [-1, 1]}
  }
}
