# A buffer that nothing uses is a mistake.
# run: verify
module @unused {
  plan @main() {
    %0 = alloc : &f32[4]
    ret
  }
}
# expect-error: 5:10: nothing uses this buffer
