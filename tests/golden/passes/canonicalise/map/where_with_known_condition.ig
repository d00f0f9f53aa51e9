# where_with_known_condition: of a where whose condition is one value all over one side is left.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = true} : bool[]
    %1 = where %0, %x, %y
    %2 = const {value = false} : bool[]
    %3 = where %2, %x, %y
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    ret %x, %y
  }
}
