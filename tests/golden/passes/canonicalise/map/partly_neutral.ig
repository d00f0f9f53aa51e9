# add_of_zero, mul_by_one and their like: a list is neutral when all of it is, not its first element.
# run: canonicalise
module @m {
  weight @add : f32[3] = [-0, 1, 2]
  weight @mul : f32[3] = [1, 2, 3]
  weight @sub : f32[3] = [0, 1, 2]
  weight @which : bool[3] = [true, false, true]
  graph @main(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], f32[3], f32[3], f32[3], f32[3]) {
    %0 = add %x, @add
    %1 = mul %x, @mul
    %2 = sub %x, @sub
    %3 = div %x, @mul
    %4 = pow %x, @mul
    %5 = where @which, %x, %y
    ret %0, %1, %2, %3, %4, %5
  }
}
# expect:
module @m {
  weight @add : f32[3] = [-0, 1, 2]
  weight @mul : f32[3] = [1, 2, 3]
  weight @sub : f32[3] = [0, 1, 2]
  weight @which : bool[3] = [true, false, true]
  graph @main(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], f32[3], f32[3], f32[3], f32[3]) {
    %0 = add %x, @add : f32[3]
    %1 = mul %x, @mul : f32[3]
    %2 = sub %x, @sub : f32[3]
    %3 = div %x, @mul : f32[3]
    %4 = pow %x, @mul : f32[3]
    %5 = where @which, %x, %y : f32[3]
    ret %0, %1, %2, %3, %4, %5
  }
}
