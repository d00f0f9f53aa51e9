# More constants: outside of their file, elided, twice, of strings, without a type.
# run:
module @data {
  weight @a : f32[1] = file("weights.bin", 9223372036854775807, 4)
  weight @b : f32[1] = file("weights.bin", -4, 4)
  weight @c : f32[1] = elided(4)
  weight @d : f32[1] = [1]
  weight @d : f32[1] = [1]
  weight @e : str[1] = ["a"]
  weight @f : f32[1] = recipe(-1)
  weight @g : f32[1] = [0x1ffffffff]
  weight @h : f32[1] = splat()
  weight @i : u8[1] = splat(-1)
  weight @j : f32[1] = file("weights.bin", 0, 4, 0x12)
  weight @k : f32[1] = file("weights.bin", 0, 4, 0x0123456789abcdef)
  graph @main() {
    %0 = const {value = [1, 2]}
    %1 = const {value = f32[2] [1, 2, "x"]} : f32[2]
    ret
  }
}
# expect-error: 4:29: 'weights.bin' has 64 bytes, too few for offset 9223372036854775807 + 4
# expect-error: 5:29: 'weights.bin' has 64 bytes, too few for offset -4 + 4
# expect-error: 6:31: expected bytes; they were left out when this was printed, found '4'
# expect-error: 8:15: there is a weight or table @d already
# expect-error: 9:24: a constant needs a type whose size is known
# expect-error: 10:24: there is no such result
# expect-error: 11:25: '0x1ffffffff' is out of range for this element type
# expect-error: 12:30: expected a number, found ')'
# expect-error: 13:29: '-1' is out of range for this element type
# expect-error: 14:50: expected a hash, 0x and 16 digits, found '0x12'
# expect-error: 15:50: 'weights.bin' holds other bytes at 0 than those that this text was written with
# expect-error: 17:25: the type of this constant is not given
# expect-error: 18:39: expected a number, found '"x"'
