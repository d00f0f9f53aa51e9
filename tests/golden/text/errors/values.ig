# Names of values: defined once, before their use, visible in their block only.
# run:
module @values {
  graph @main(%x: f32[], %n: i64[], %c: bool[]) {
    %0 = relu %a
    %x = relu %n
    loop %n, %c (%i: i64[], %k: bool[]) {
      yield %k
    }
    %1 = relu %i
    %2 = relu @w
    %3 = weight {name = @w}
    %4, %5 = relu %x
    ret %0, %1, %2, %3, %4
  }
}
# expect-error: 5:15: %a is not defined
# expect-error: 6:5: %x is defined already on line 4
# expect-error: 10:15: %i is defined on line 7, in a block closed by now
# expect-error: 11:15: no weight or table @w stands before here
# expect-error: 12:10: write @name where the weight is used
# expect-error: 13:14: relu has 1 results, here are 2 names
