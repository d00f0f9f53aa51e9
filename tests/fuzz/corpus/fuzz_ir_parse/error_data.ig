module @data {
  weight @a : f32[3] = [1, 2]
  weight @b : f32[2] = [1, 2, 3]
  weight @c : i8[2] = [128, 1]
  weight @d : u4[2] = [-1, 1]
  weight @e : f16[1] = [65536]
  weight @f : f32[2] = inline(0x00)
  weight @g : f32[1] = inline(0x0000000)
  weight @h : bool[1] = [2]
  weight @i : f32[1000000000000] = [1]
  weight @j : f32[9223372036854775807, 2] = splat(1)
  weight @k : i32[1] = [1.5]
  weight @l : f32[2] = 1
  weight @m : i8<rowwise f16>[1, 1] = inline(0x0000000000)
  table @n : f32[2] = [1, 2]
  table @o : i8<rowwise f16>[1, 1] = splat(1)
  weight @p : f32[1] = file("../outside.bin", 0, 4)
  weight @q : f32[1] = file("missing.bin", 0, 4)
  weight @r : f32[1] = file("weights.bin", 0, 8)
}
