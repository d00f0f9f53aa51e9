module @model {
  graph @main(%condition: bool[2, 2]) -> (i64[2, nonzero] "result") {
    %0 = nonzero %condition : i64[nonzero, 2]
    %1 = transpose %0 {perm = [1, 0]} : i64[2, nonzero] "result"
    ret %1
  }
}
