# concat_without_empty: operands without elements along the axis add nothing.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 0], %z: f32[B, 4]) -> (f32[B, 7], f32[B, 0]) {
    %0 = concat %y, %x, %z {axis = 1}
    %1 = concat %y, %y {axis = -1}
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 0], %z: f32[B, 4]) -> (f32[B, 7], f32[B, 0]) {
    %0 = concat %x, %z {axis = 1} : f32[B, 7]
    ret %0, %y
  }
}
