module @stages {
  graph @tensor(%b: &f32[4], %v: f32<4>) {
    %0 = alloc : &f32[4]
    %1 = iota : i64<4>
    barrier
    ret
  }
  plan @plan(%x: f32[4], %v: f32) {
    %0 = relu %x
    %1 = alloc : &f32[4]
    compute %x, %1 {family = "map", outs = 1} (%a: f32[4]) {
      %2 = relu %a
      yield %2
    }
    ret %1
  }
  kernel @kernel(%x: &f32) {
    %0 = seq_empty {of = f32} : seq<f32[4]>
    guard eq(N, 4)
    ret
  }
}
