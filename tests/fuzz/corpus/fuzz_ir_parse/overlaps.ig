module @overlaps {
  plan @main(%x: f32[B, 4]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = 2, strides = [8, 1]} : &f32[B, 4]
    %4 = view %2 {offset = -4, strides = [8, 1]} : &f32[B, 5]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    launch %3, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %3 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %0 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %x, %1, %1 {kernel = @two, outs = 2, grid = 1}
    %5 = view %0 {offset = 0, strides = [1, 8]} : &f32[4, B]
    launch %1, %5 {kernel = @copy, outs = 1, grid = 1}
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
  kernel @two(%from: &f32, %to: &f32, %also: &f32) {
    ret
  }
}
