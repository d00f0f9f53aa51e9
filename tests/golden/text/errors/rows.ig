# Rows that cannot be.
# run:
module @m {
  table @a : u8<rowwise f16 stride 5>[2, 2] = inline(0x00)
}
# expect-error: 4:38: such rows do not exist: the stride is too short, or the small float is none
