module @unused {
  plan @main() {
    %0 = alloc : &f32[4]
    ret
  }
}
