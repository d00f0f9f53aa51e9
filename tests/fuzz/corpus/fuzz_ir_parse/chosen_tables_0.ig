module @tables {
  table @a : u8<rowwise f16 stride 8>[2, 2] = inline(0x003c000001020000003c000001020000)
  table @b : u8<rowwise float 4 7>[1, 4] = inline(0x38b80001)
  table @c : u4<rowwise f16 behind>[1, 2] = inline(0x21003c0000)
  table @d : u2<rowwise f32 front stride 16>[1, 4] = inline(0x0000803f00000000e400000000000000)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]) {
    %0, %1, %2, %3 = bag @a, %ids, %off, @b, %ids, %off, @c, %ids, %off, @d, %ids, %off {operands = [1, 1, 1, 1], pool = [sum, mean, none, sum], last = [offset, offset, offset, offset], negative = skip, range = first, offsets = clamp, to = f16} : f16[B - 1, 2], f16[B - 1, 4], f16[N, 2], f16[B - 1, 4]
    ret %0, %1, %2, %3
  }
}
