# Constants whose content does not fit their type.
# run:
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
# expect-error: 4:24: the type has 3 elements, here are 2
# expect-error: 5:24: the type has 2 elements, here are 3
# expect-error: 6:24: '128' is out of range for this element type
# expect-error: 7:24: '-1' is out of range for this element type
# expect-error: 8:25: '65536' is out of range for this element type
# expect-error: 9:31: the type has 8 bytes, here are 1
# expect-error: 10:31: the type has 4 bytes, here are 3 and a half
# expect-error: 11:26: '2' is neither true nor false
# expect-error: 12:36: the type has 1000000000000 elements, the text holds fewer
# expect-error: 13:45: a constant needs a type whose size is known
# expect-error: 14:25: '1.5' is not an integer
# expect-error: 15:24: expected […], splat(…), inline(0x…) or file(…), found '1'
# expect-error: 16:15: a weight is a tensor, f32[2, 3]; a table has rows, i8<rowwise f16>[2, 3]
# expect-error: 17:14: a weight is a tensor, f32[2, 3]; a table has rows, i8<rowwise f16>[2, 3]
# expect-error: 18:38: expected inline(0x…) or file(…), since rows have scales, found 'splat'
# expect-error: 19:29: '../outside.bin': ".." is not followed
# expect-error: 20:29: 'missing.bin': no such file
# expect-error: 21:29: the type has 4 bytes, not 8
