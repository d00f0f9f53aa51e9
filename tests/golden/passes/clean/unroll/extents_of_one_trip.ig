# unroll: what a body's guards say of an argument's extent holds for what it starts with.
# run: unroll
module @model {
  graph @main(%x: f32[a, b]) -> (f32[a, c]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = true} : bool[]
    %2 = loop %0, %1, %x : f32[a, c] (%i: i64[], %go: bool[], %y: f32[a, n]) {
      guard eq(n, 3) "the width"
      %3 = relu %y : f32[a, n]
      %4 = expand %3 {to = [a, 3]} : f32[a, 3]
      yield %go, %4
    }
    ret %2
  }
}
# expect:
module @model {
  graph @main(%x: f32[a, b]) -> (f32[a, 3]) {
    guard eq(b, 3) "the width"
    %0 = relu %x : f32[a, b]
    %1 = expand %0 {to = [a, 3]} : f32[a, 3]
    ret %1
  }
}
