module @model {
  graph @main(%x: f64[10]) -> (f64[10] "y") {
    %0 = run_number : i64[]
    %1 = random %0 {dtype = f64, shape = [10], seed = 0, number = 1} : f64[10]
    %2 = lt %1, %x : bool[10]
    %3 = cast %2 {to = f64} : f64[10] "y"
    ret %3
  }
}
