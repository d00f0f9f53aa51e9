# shard: a divided table that is looked up where the ranks may not meet.
# run: shard
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %c: bool[]) -> (f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2]}
    %1 = if %c : f32[B, 2] {
      %2 = bag %0, %ids, %off {operands = [1], pool = [sum]}
      yield %2
    } else {
      %3 = bag @a, %ids, %off {operands = [1], pool = [sum]}
      yield %3
    }
    ret %1
  }
}
# expect-error: a divided table is looked up in the body of 'if'
