module @blocks {
  plan @main(%x: f32[4]) -> (&f32[4]) {
    %0 = alloc : &f32[4]
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 1024}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 1025}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 0}
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
