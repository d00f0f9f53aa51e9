# shard: a divided table that another op reads as a whole.
# run: shard
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N]) -> (f32[N, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2]}
    %1 = gather %0, %ids {axis = 0}
    ret %1
  }
}
# expect-error: it reads all of table 'a', of which a rank has a part
