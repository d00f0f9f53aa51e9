# slice_of_slice: two slices are one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 20]) -> (f32[B, 3]) {
    %0 = slice %x {starts = [0, 1], sizes = [B, 9], steps = [1, 2]}
    %1 = slice %0 {starts = [0, 8], sizes = [B, 3], steps = [1, -3]}
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 20]) -> (f32[B, 3]) {
    %0 = slice %x {starts = [0, 17], sizes = [B, 3], steps = [1, -6]} : f32[B, 3]
    ret %0
  }
}
