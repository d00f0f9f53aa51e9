module @model {
  graph @main(%X: f32[3, 3]) -> (f32[3, unique] "Y", i64[unique] "indices", i64[3] "inverse_indices", i64[unique] "counts") {
    %0, %1, %2, %3 = unique %X {axis = 1} : f32[3, unique] "Y", i64[unique] "indices", i64[3] "inverse_indices", i64[unique] "counts"
    ret %0, %1, %2, %3
  }
}
