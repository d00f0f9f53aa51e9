# open_weights: parameters become arguments in front of states; equal ones stay apart.
# run: open_weights,fold,cse,dce
# not run: it takes more arguments
module @m {
  weight @b0 : f32[4] = splat(0) {parameter}
  weight @b1 : f32[4] = splat(0) {parameter}
  weight @k : f32[4] = splat(0)
  weight @s : i64[] = 0
  graph @main(%x: f32[B, 4], %s: i64[] = @s) -> (f32[B, 4] "y", i64[]) as forward(x: tensor) -> tensor {
    %0 = add %x, @b0 : f32[B, 4]
    %1 = relu %0 : f32[B, 4]
    %2 = add %1, @b1 : f32[B, 4]
    %3 = add %2, @k : f32[B, 4]
    %4 = add %3, @b0 : f32[B, 4]
    ret %4, %s
  }
}
# expect:
module @m {
  weight @b0 : f32[4] = splat(0) {parameter}
  weight @b1 : f32[4] = splat(0) {parameter}
  weight @k : f32[4] = splat(0)
  weight @s : i64[] = 0
  graph @main(%x: f32[B, 4], %b0: f32[4] {opened}, %b1: f32[4] {opened}, %s: i64[] = @s) -> (f32[B, 4] "y", i64[])
      as forward(x: tensor, b0: tensor, b1: tensor) -> tensor {
    %0 = add %x, %b0 : f32[B, 4]
    %1 = relu %0 : f32[B, 4]
    %2 = add %1, %b1 : f32[B, 4]
    %3 = add %2, @k : f32[B, 4]
    %4 = add %3, %b0 : f32[B, 4]
    ret %4, %s
  }
}
