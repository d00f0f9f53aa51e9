# shard: columns that no whole byte begins with.
# run: shard
module @m {
  table @q : u4<rowwise f16>[1, 4] = inline(0x003c00001032)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = shard @q {world = 2, rank = 1, parts = [0, 0, 1, 0, 1, 1, 0, 1, 1, 3]}
    %1 = bag %0, %ids, %off {operands = [1], pool = [sum]}
    ret %1
  }
}
# expect-error: table 'q' cannot be cut at column 1
