# canonicalise: many copies of one value are the value repeated; few, and others between
# them, stay.
# run: canonicalise,dce
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 4]) -> (f32[9*B, 4], f32[B, 40], f32[4*B, 4]) {
    %0 = concat %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : f32[9*B, 4]
    %1 = concat %y, %x, %x, %x, %x, %x, %x, %x, %x, %y {axis = -1} : f32[B, 40]
    %2 = concat %x, %x, %x, %y {axis = 0} : f32[4*B, 4]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 4], %y: f32[B, 4]) -> (f32[9*B, 4], f32[B, 40], f32[4*B, 4]) {
    %0 = reshape %x {to = [1, B, 4]} : f32[1, B, 4]
    %1 = expand %0 {to = [9, B, 4]} : f32[9, B, 4]
    %2 = reshape %1 {to = [9*B, 4]} : f32[9*B, 4]
    %3 = reshape %x {to = [B, 1, 4]} : f32[B, 1, 4]
    %4 = expand %3 {to = [B, 8, 4]} : f32[B, 8, 4]
    %5 = reshape %4 {to = [B, 32]} : f32[B, 32]
    %6 = concat %y, %5, %y {axis = -1} : f32[B, 40]
    %7 = concat %x, %x, %x, %y {axis = 0} : f32[4*B, 4]
    ret %2, %6, %7
  }
}
