# bag_loop: loops that pool rows, but not as a bag does: one that may end early, bags that
# overlap, a reduction that is none of a bag's, ids that do not wrap, rows of which each
# trip takes another table.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @early(%ids: i64[N], %off: i64[3], %go: bool[2]) -> (f32[t, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[t, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0} : f32[n, 4]
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      %8 = gather %go, %i {axis = 0} : bool[]
      yield %8, %7
    }
    ret %0
  }
  graph @overlap(%ids: i64[N]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %two = const {value = [2]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %two : i64[1]
      %3 = slice %ids, %1, %2 : i64[n]
      %4 = gather @table, %3 {axis = 0} : f32[n, 4]
      %5 = reduce %4 {op = sum, axes = [0]} : f32[4]
      yield %c, %5
    }
    ret %0
  }
  graph @least(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0} : f32[n, 4]
      %7 = reduce %6 {op = min, axes = [0]} : f32[4]
      yield %c, %7
    }
    ret %0
  }
  graph @no_wrap(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0, negative = error} : f32[n, 4]
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      yield %c, %7
    }
    ret %0
  }
  graph @tables(%ids: i64[N], %off: i64[3], %tables: f32[2, 11, 4]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather %tables, %i {axis = 0} : f32[11, 4]
      %7 = gather %6, %5 {axis = 0} : f32[n, 4]
      %8 = reduce %7 {op = sum, axes = [0]} : f32[4]
      yield %c, %8
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @early(%ids: i64[N], %off: i64[3], %go: bool[2]) -> (f32[t, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[t, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0} : f32[n, 4]
      %10 = reduce %9 {op = sum, axes = [0]} : f32[4]
      %11 = gather %go, %i {axis = 0} : bool[]
      yield %11, %10
    }
    ret %3
  }
  graph @overlap(%ids: i64[N]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [2]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = slice %ids, %4, %5 : i64[n]
      %7 = gather @table, %6 {axis = 0} : f32[n, 4]
      %8 = reduce %7 {op = sum, axes = [0]} : f32[4]
      yield %c, %8
    }
    ret %3
  }
  graph @least(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0} : f32[n, 4]
      %10 = reduce %9 {op = min, axes = [0]} : f32[4]
      yield %c, %10
    }
    ret %3
  }
  graph @no_wrap(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0, negative = error} : f32[n, 4]
      %10 = reduce %9 {op = sum, axes = [0]} : f32[4]
      yield %c, %10
    }
    ret %3
  }
  graph @tables(%ids: i64[N], %off: i64[3], %tables: f32[2, 11, 4]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather %tables, %i {axis = 0} : f32[11, 4]
      %10 = gather %9, %8 {axis = 0} : f32[n, 4]
      %11 = reduce %10 {op = sum, axes = [0]} : f32[4]
      yield %c, %11
    }
    ret %3
  }
}
