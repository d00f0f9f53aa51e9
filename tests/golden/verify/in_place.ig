# ... but not where it is the very place of the input, lies beside it, or may lie apart.
# run: verify
module @in_place {
  plan @main(%x: f32[B, 4], %y: f32[8], %z: f32[N]) -> (&f32[B, 8], &f32[16]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = N, strides = [8, 1]} : &f32[B, 4]
    %4 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %2 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    %6 = alloc : &f32[16]
    %7 = view %6 {offset = 0, strides = [1]} : &f32[8]
    %8 = view %6 {offset = 8, strides = [1]} : &f32[8]
    launch %y, %7 {kernel = @copy, outs = 1, grid = 1}
    launch %7, %8 {kernel = @copy, outs = 1, grid = 1}
    ret %0, %6
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect:
module @in_place {
  plan @main(%x: f32[B, 4], %y: f32[8], %z: f32[N]) -> (&f32[B, 8], &f32[16]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = N, strides = [8, 1]} : &f32[B, 4]
    %4 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %2 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    %5 = alloc : &f32[16]
    %6 = view %5 {offset = 0, strides = [1]} : &f32[8]
    %7 = view %5 {offset = 8, strides = [1]} : &f32[8]
    launch %y, %6 {kernel = @copy, outs = 1, grid = 1}
    launch %6, %7 {kernel = @copy, outs = 1, grid = 1}
    ret %0, %5
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
