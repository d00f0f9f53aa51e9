# canonicalise: a stored number is a constant like every other one; a list stays where it is.
# run: canonicalise,dce
module @m {
  weight @one : f32[1] = inline(0x0000803f)
  weight @two : f32[2] = inline(0x0000803f00000040)
  weight @square : f32[1, 1] = inline(0x0000803f)
  graph @main(%x: f32[N, 2]) -> (f32[N, 2]) {
    %0 = add %x, @one : f32[N, 2]
    %1 = add %0, @two : f32[N, 2]
    %2 = add %1, @square : f32[N, 2]
    ret %2
  }
}
# expect:
module @m {
  weight @one : f32[1] = [1]
  weight @two : f32[2] = [1, 2]
  weight @square : f32[1, 1] = [1]
  graph @main(%x: f32[N, 2]) -> (f32[N, 2]) {
    %0 = const {value = [1]} : f32[1]
    %1 = add %x, %0 : f32[N, 2]
    %2 = add %1, @two : f32[N, 2]
    %3 = add %2, @square : f32[N, 2]
    ret %3
  }
}
