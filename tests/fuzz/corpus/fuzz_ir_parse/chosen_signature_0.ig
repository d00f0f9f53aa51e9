module @calls {
  weight @count : i64[] = 0
  weight @seen : f32[0] = []
  graph @main(%0 "f.values": f32[V], %1 "f.lengths": i64[L], %x: f32[3], %n: i64[],
      %count: i64[] = @count, %seen: f32[S] = @seen)
      -> (f32[V] "y", i64[], f32[3], i64[], f32[S])
      as "a method"(f: kjt(keys=["a", "b \"c\""], values=tensor, lengths=tensor,
                           weights=none,), x: tensor, n: int, by: [2, -7, 2.5, nan, true])
      -> {"y": tensor, 7: (int,), "p": Point(x=(), "y z"=[])} after x: tensor {
    %2 = neg %0
    %3 = add %n, %count
    %4 = add %x, %x
    ret %2, %3, %4, %3, %seen
  }
}
