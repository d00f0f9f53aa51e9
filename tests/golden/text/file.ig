# Constants that are parts of a file beside the text.
# run:
module @files {
  weight @a : f32[4] = file("weights.bin", 0, 16)
  weight @b : i4[3] = file("weights.bin", 63, 1)
  weight @none : f32[0] = file("weights.bin", 64, 0)
  table @t : i8<rowwise f32>[2, 8] = file("weights.bin", 32, 32)
  graph @main() -> (f32[4], u8[2]) {
    %0 = neg @a
    %1 = const {value = file("weights.bin", 1, 2)} : u8[2]
    ret %0, %1
  }
}
# expect-error: 5:28: the type has 2 bytes, not 1
