# concat_of_concat: a concat inside a concat along the same axis dissolves, unless it is used twice.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %z: f32[B, 5]) -> (f32[B, 12], f32[B, 8], f32[B, 11]) {
    %0 = concat %x, %y {axis = 1}
    %1 = concat %0, %z {axis = -1}
    %2 = concat %x, %z {axis = 1}
    %3 = concat %2, %x {axis = 1}
    ret %1, %2, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %z: f32[B, 5]) -> (f32[B, 12], f32[B, 8], f32[B, 11]) {
    %0 = concat %x, %y, %z {axis = -1} : f32[B, 12]
    %1 = concat %x, %z {axis = 1} : f32[B, 8]
    %2 = concat %1, %x {axis = 1} : f32[B, 11]
    ret %0, %1, %2
  }
}
