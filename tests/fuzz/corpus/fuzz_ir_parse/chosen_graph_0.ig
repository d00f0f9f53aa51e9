module @"a module/with \"quotes\"" {
  graph @main(%0: f32[2], %x "x.1": f32[2], %y "input:0": f32[2], %y_1 "input:0": f32[2]) -> (f32[2] "out", f32[2], f32[2] "out:0") {
    %1 = add %0, %x
    %2 = add %y, %y_1
    ret %1, %2, %0
  }
  graph @empty() {
    ret
  }
  private graph @body(%a: f32[], %7: f32[]) -> (f32[]) {
    ret %7
  }
  entry kernel @first(%b: &f32) { ret }
  graph @many(%p: f32[], %q: f32[], %r: f32[], %s: f32[], %t: f32[]) -> (f32[]) { ret %t }
}
