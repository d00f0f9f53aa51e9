module @model {
  graph @main(%data: f32[2, 2]) -> (i64[1, 2] "result") {
    %0 = arg_reduce %data {axis = 0, keep} : i64[1, 2] "result"
    ret %0
  }
}
