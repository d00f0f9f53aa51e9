# slice_of_all: a slice of everything is x; backwards it is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3], f32[B, 3]) {
    %0 = slice %x {starts = [0, 0], sizes = [B, 3]}
    %1 = slice %x {starts = [0, 2], sizes = [B, 3], steps = [1, -1]}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3]) -> (f32[B, 3], f32[B, 3]) {
    %0 = slice %x {starts = [0, 2], sizes = [B, 3], steps = [1, -1]} : f32[B, 3]
    ret %x, %0
  }
}
