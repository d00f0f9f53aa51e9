# branch_extents: on the side of one number of an extent the other side's extents are of that number too; others stay.
# run: branch_extents

module @m {
  symbol L
  symbol n {origin = "an extent in which two branches differ"}
  symbol n2 {origin = "an extent in which two branches differ"}
  graph @main(%x: i64[L]) -> (i64[n], i64[n2]) {
    %0 = dims {values = [L], scalar} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = gt %0, %1 : bool[]
    %3, %4 = if %2 : i64[n], i64[n2] {
      %5 = const {value = [0]} : i64[1]
      %6 = concat %5, %x {axis = 0} : i64[L + 1]
      yield %6, %6
    } else {
      %7 = const {value = [0]} : i64[1]
      %8 = const {value = [0, 1]} : i64[2]
      yield %7, %8
    }
    ret %3, %4
  }
}
# expect:
module @m {
  symbol n2 {origin = "an extent in which two branches differ"}
  graph @main(%x: i64[L]) -> (i64[L + 1], i64[n2]) {
    %0 = dims {values = [L], scalar} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = gt %0, %1 : bool[]
    %3, %4 = if %2 : i64[L + 1], i64[n2] {
      %5 = const {value = [0]} : i64[1]
      %6 = concat %5, %x {axis = 0} : i64[L + 1]
      yield %6, %6
    } else {
      %7 = const {value = [0]} : i64[1]
      %8 = const {value = [0, 1]} : i64[2]
      %9 = expand %7 {to = [L + 1]} : i64[L + 1]
      yield %9, %8
    }
    ret %3, %4
  }
}
