module @computes {
  plan @main(%x: f32[4], %i: i64[4]) -> (&f32[4]) {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[5]
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4], %b: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %i, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 4} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      %2 = relu %x
      yield %2
    }
    rows {count = 4, block = 0} {
      yield %x
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[5]) {
      yield %a
    }
    ret %0
  }
}
