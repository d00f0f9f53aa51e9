# A tensor of any rank is handed on; nothing computes with it.
# run:
module @any_alone {
  graph @main(%x: f32[*]) -> (f32[]) {
    %0 = neg %x
    ret %0
  }
}
# expect-error: 5:10: operand 0 is f32[*], expected a tensor
