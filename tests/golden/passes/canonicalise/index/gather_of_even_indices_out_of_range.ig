# gather_of_even_indices: what is out of range, or negative where that is an error, is left for the run to report.
# run: canonicalise
# not run: its ids are always out of range
module @m {
  graph @main(%x: f32[8]) -> (f32[], f32[]) {
    %0 = const {value = 8} : i64[]
    %1 = gather %x, %0 {axis = 0}
    %2 = const {value = -1} : i64[]
    %3 = gather %x, %2 {axis = 0, negative = error}
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[8]) -> (f32[], f32[]) {
    %0 = const {value = 8} : i64[]
    %1 = gather %x, %0 {axis = 0} : f32[]
    %2 = const {value = -1} : i64[]
    %3 = gather %x, %2 {axis = 0, negative = error} : f32[]
    ret %1, %3
  }
}
