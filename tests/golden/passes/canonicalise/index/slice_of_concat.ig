# slice_of_concat: a slice that lies in one operand of a concat is a slice of that one.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %a: f32[N], %b: f32[M]) -> (f32[B, 4], f32[B, 2], f32[B, 2], f32[M]) {
    %0 = concat %x, %y {axis = 1}
    %1 = slice %0 {starts = [0, 3], sizes = [B, 4]}
    %2 = slice %0 {starts = [0, 1], sizes = [B, 2]}
    %3 = slice %0 {starts = [0, 2], sizes = [B, 2]}
    %4 = concat %a, %b {axis = 0}
    %5 = slice %4 {starts = [N], sizes = [M]}
    ret %1, %2, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 3], %y: f32[B, 4], %a: f32[N], %b: f32[M]) -> (f32[B, 4], f32[B, 2], f32[B, 2], f32[M]) {
    %0 = concat %x, %y {axis = 1} : f32[B, 7]
    %1 = slice %x {starts = [0, 1], sizes = [B, 2]} : f32[B, 2]
    %2 = slice %0 {starts = [0, 2], sizes = [B, 2]} : f32[B, 2]
    ret %y, %1, %2, %b
  }
}
