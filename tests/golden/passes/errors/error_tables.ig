# infer: tables whose rows are one list have rows of one kind.
# run: infer
module @m {
  weight @a : f32[8, 4] = splat(1)
  weight @b : f32[8, 5] = splat(1)
  graph @main(%i: i64[N], %o: i64[B]) -> (f32[B, 4]) {
    %0 = bag @a, @b, %i, %o {operands = [1], pool = [sum], tables = [2], negative = skip}
    ret %0
  }
}
# expect-error: 7:10: operand 1 is f32[8, 5], expected rows like those of f32[8, 4]
