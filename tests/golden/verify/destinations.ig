# Destinations are buffers of the plan; they are written before they are read.
# run: verify
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
# expect-error: 8:10: nothing uses this buffer
# expect-error: 9:5: operand 0 is read, but nothing has written it
# expect-error: 10:5: destination 1 is no buffer of the plan
# expect-error: 11:5: destination 1 is no buffer of the plan
# expect-error: 20:10: a view of rank 1 has 2 strides
# expect-error: 21:10: a view sees a buffer as a buffer of the same elements
# expect-error: 22:5: 2 operands cannot hold 3 destinations
# expect-error: 23:5: the module has no @nobody
# expect-error: 24:5: @main is no kernel
# expect-error: 25:5: kernel @copy takes 2 buffers, not 3
# expect-error: 25:5: kernel @copy takes 0 params, not 1
# expect-error: 26:5: scratch memory cannot be negative
# expect-error: 27:5: operand 1 is read, but nothing has written it
