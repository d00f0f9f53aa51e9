module @model {
  graph @main(%x: u64[3, 4], %k: i64[1]) -> (u64[3, k] "values", i64[3, k] "indices") {
    %0, %1 = topk %x, %k {axis = 1} : u64[3, k] "values", i64[3, k] "indices"
    ret %0, %1
  }
}
