# div_by_one: x / 1 is x.
# run: canonicalise
module @m {
  graph @main(%x: i32[B]) -> (i32[B], i32[B]) {
    %0 = const {value = 1} : i32[]
    %1 = div %x, %0
    %2 = div %0, %x
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: i32[B]) -> (i32[B], i32[B]) {
    %0 = const {value = 1} : i32[]
    %1 = div %0, %x : i32[B]
    ret %x, %1
  }
}
