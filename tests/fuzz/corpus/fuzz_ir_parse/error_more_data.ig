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
  graph @main() {
    %0 = const {value = [1, 2]}
    %1 = const {value = f32[2] [1, 2, "x"]} : f32[2]
    ret
  }
}
