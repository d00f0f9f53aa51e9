module @recommend {
  table @t0 : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  weight @t1 : f32[8, 4] = splat(1)
  graph @main(
      %ids: i64[N],
      %off: i64[B],
      %ids2: i64[B, 3],
      %w: f32[N],
      %x: f32[B, 4, 8]) -> (f32[B, 2], f32[B, 4], f32[B, 6]) {
    %0, %1 = bag @t0, %ids, %off, %w, @t1, %ids2 {operands = [5, 0], pool = [sum, mean], padding = [-9223372036854775808, 0], last = [ids, ids], empty = [nan, zero], negative = error, range = clamp} : f32[B, 2], f32[B, 4]
    %2 = interact %x {pairs = [4, 8, 9, 12, 13, 14]} : f32[B, 6]
    ret %0, %1, %2
  }
}
