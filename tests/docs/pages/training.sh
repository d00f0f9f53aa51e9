# The model of the page.  SPDX-License-Identifier: Apache-2.0
cat >mlp.ig <<'MODEL'
module @mlp {
  graph @main(%x: f32[B, 4], %w1: f32[4, 5], %b1: f32[5], %w2: f32[5], %t: f32[B2]) -> (f32[] "loss") {
    %0 = matmul %x, %w1 : f32[B, 5]
    %1 = add %0, %b1 : f32[B, 5]
    %2 = relu %1 : f32[B, 5]
    %3 = matmul %2, %w2 : f32[B]
    %4 = sub %3, %t : f32[bcast(B, B2)]
    %5 = mul %4, %4 : f32[bcast(B, B2)]
    %6 = reduce %5 {op = mean} : f32[]
    ret %6
  }
}
MODEL
