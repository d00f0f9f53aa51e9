# Collectives of whole tensors: a result for each operand, floats are summed, axes are joined.
# run: infer
module @whole {
  graph @main(%x: f32[N, 2], %i: i64[N], %s: f32[]) {
    %0 = all_reduce %x, %s {world = 4}
    %1, %2 = all_gather %x, %i {world = 4}
    %3 = all_reduce %i {world = 4}
    %4 = all_gather %s {world = 4}
    %5 = all_reduce %x {world = 0}
    %6 = all_gather %x {world = 65537}
    ret
  }
}
# expect-error: 5:10: it wants a result for each of 2 operands, not 1
# expect-error: 7:10: operand 0 is i64[N], expected floating-point elements
# expect-error: 8:10: operand 0 is f32[], expected rank 1 or more
# expect-error: 9:10: there is no world of 0 ranks; 1 to 65536 can be
# expect-error: 10:10: there is no world of 65537 ranks; 1 to 65536 can be
