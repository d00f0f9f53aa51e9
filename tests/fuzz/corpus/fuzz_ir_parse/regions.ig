module @regions {
  weight @w : f32[4] = splat(1)
  graph @main(%x: f32[4], %y: f32[5], %z: f32[B]) {
    %0 = fused %x : f32[4] (%a: f32[4]) {
      %1 = add %a, %x
      yield %1
    }
    %2 = fused %x : f32[4] (%a: f32[4]) {
      %3 = add %a, @w
      yield %3
    }
    %4 = fused %x, %y : f32[4] (%a: f32[4]) {
      yield %a
    }
    %5 = fused %x : f32[4] (%a: f32[5]) {
      yield %a
    }
    %6 = fused %z : f32[4] (%a: f32[4]) {
      yield %a
    }
    ret
  }
}
