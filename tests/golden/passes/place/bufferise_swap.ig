# bufferise: states that change places are each what the other was before the call.
# run: fuse,bufferise
# then: lower
module @m {
  weight @a : f32[2] = [1, 2]
  weight @b : f32[2] = [3, 4]
  weight @c : f32[2] = [5, 6]
  graph @main(%x: f32[2], %a: f32[2] = @a, %b: f32[2] = @b, %c: f32[2] = @c) -> (f32[2] "y", f32[2], f32[2], f32[2]) {
    %0 = add %x, %a : f32[2]
    %1 = mul %c, %x : f32[2]
    ret %0, %b, %1, %a
  }
}
# expect:
module @m {
  weight @a : f32[2] = [1, 2]
  weight @b : f32[2] = [3, 4]
  weight @c : f32[2] = [5, 6]
  plan @main(%x: f32[2], %a: f32[2] = @a, %b: f32[2] = @b, %c: f32[2] = @c) -> (&f32[2] "y", &f32[2], &f32[2], &f32[2]) {
    %0 = alloc : &f32[2]
    compute %x, %a, %0 {family = "map", outs = 1} (%1: f32[2], %2: f32[2]) {
      %3 = add %1, %2 : f32[2]
      yield %3
    }
    %4 = alloc : &f32[2]
    compute %c, %x, %4 {family = "map", outs = 1} (%5: f32[2], %6: f32[2]) {
      %7 = mul %5, %6 : f32[2]
      yield %7
    }
    %8 = alloc : &f32[2]
    compute %b, %8 {family = "copy", outs = 1} (%9: f32[2]) {
      yield %9
    }
    %10 = alloc : &f32[2]
    compute %a, %10 {family = "copy", outs = 1} (%11: f32[2]) {
      yield %11
    }
    ret %0, %8, %4, %10
  }
}
