# Ops and types stand at their stages; what a compute computes is said in tensors.
# run: verify
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
# expect-error: in 'tensor': argument 0 has no type of this stage
# expect-error: in 'tensor': argument 1 has no type of this stage
# expect-error: 5:10: alloc cannot stand at this stage
# expect-error: 5:10: a value of type &f32[4] cannot stand at this stage
# expect-error: 6:10: iota cannot stand at this stage
# expect-error: 6:10: a value of type i64<4> cannot stand at this stage
# expect-error: 7:5: barrier cannot stand at this stage
# expect-error: in 'plan': argument 1 has no type of this stage
# expect-error: 11:10: relu cannot stand at this stage
# expect-error: 20:10: seq_empty cannot stand at this stage
# expect-error: 20:10: a value of type seq<f32[4]> cannot stand at this stage
# expect-error: 21:5: guard cannot stand at this stage
