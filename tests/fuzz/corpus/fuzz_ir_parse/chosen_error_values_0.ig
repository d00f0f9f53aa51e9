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
