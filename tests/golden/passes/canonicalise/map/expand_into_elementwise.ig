# expand_into_elementwise: an operand need not be expanded where the op broadcasts by itself.
# The second add needs an expand, since no other operand has the extent 7.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[7, 1]) -> (f32[B, 7], f32[7, 3]) {
    %0 = expand %y {to = [B, 7]}
    %1 = add %0, %x
    %2 = expand %z {to = [7, 3]}
    %3 = add %2, %2
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[7, 1]) -> (f32[B, 7], f32[7, 3]) {
    %0 = add %y, %x : f32[B, 7]
    %1 = expand %z {to = [7, 3]} : f32[7, 3]
    %2 = add %z, %1 : f32[7, 3]
    ret %0, %2
  }
}
