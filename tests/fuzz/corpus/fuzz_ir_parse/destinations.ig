module @destinations {
  weight @w : f32[4] = splat(1)
  plan @main(%x: f32[4], %c: bool[]) -> (&f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[4]
    %2 = alloc : &f32[4]
    launch %0, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %x, %x {kernel = @copy, outs = 1, grid = 1}
    launch %x, @w {kernel = @copy, outs = 1, grid = 1}
    if %c {
      launch %x, %0 {kernel = @copy, outs = 1, grid = 1}
      yield
    } else {
      yield
    }
    launch %0, %0 {kernel = @copy, outs = 1, grid = 1}
    %3 = alloc : &f32[4]
    %4 = view %3 {offset = 0, strides = [1, 1]} : &f32[4]
    %5 = view %3 {offset = 0, strides = [1]} : &i32[4]
    launch %x, %1 {kernel = @copy, outs = 3, grid = 1}
    launch %x, %1 {kernel = @nobody, outs = 1, grid = 1}
    launch %x, %1 {kernel = @main, outs = 1, grid = 1}
    launch %x, %x, %1 {kernel = @copy, outs = 1, grid = 1, params = [4]}
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1, scratch = -1}
    ret %1, %3
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
