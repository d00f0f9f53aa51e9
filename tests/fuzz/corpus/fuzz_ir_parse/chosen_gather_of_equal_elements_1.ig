module @m {
  graph @main(%at: i64[N]) -> (i64[N], i64[N]) {
    %0 = const {value = [7, 7, 8]} : i64[3]
    %1 = const {value = 7} : i64[]
    %2 = expand %1 {to = [N]} : i64[N]
    %3 = gather %0, %at {axis = 0, negative = error} : i64[N]
    ret %2, %3
  }
}
