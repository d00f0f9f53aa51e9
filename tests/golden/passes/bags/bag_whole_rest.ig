# bag_whole: a last bag to the end of the ids holds those of the bags behind it too: it stays.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L]) -> (f32[exact(L / 2), 4]) {
    %0 = const {value = i64[2] [1, 0]}
    %1 = reshape %lengths {to = [2, exact(L / 2)]}
    %2 = gather %1, %0 {axis = 0}
    %3 = cumsum %lengths {axis = 0, exclusive}
    %4 = reshape %3 {to = [2, exact(L / 2)]}
    %5 = gather %4, %0 {axis = 0}
    %6 = reshape %5 {to = [L]}
    %7 = reshape %2 {to = [L]}
    %8 = cumsum %7 {axis = 0, complete}
    %9 = slice %8 {starts = [L], sizes = [1]}
    %10 = reshape %9 {to = []}
    %11 = const {value = i64[] 0}
    %12 = const {value = i64[] 1}
    %13 = range %11, %10, %12 : i64[m]
    %14 = slice %8 {starts = [1], sizes = [L]}
    %15 = bucketize %13, %14 {right} : i64[m]
    %16 = slice %8 {starts = [0], sizes = [L]}
    %17 = sub %6, %16
    %18 = gather %17, %15 {axis = 0}
    %19 = add %13, %18
    %20 = gather %ids, %19 {axis = 0}
    %21 = cumsum %7 {axis = 0, complete, rising}
    %22 = slice %21 {starts = [0], sizes = [exact(L / 2)], steps = [1]}
    %23 = bag @t, %20, %22 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    ret %23
  }
}
# expect:
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L]) -> (f32[exact(L / 2), 4]) {
    %0 = const {value = [1, 0]} : i64[2]
    %1 = reshape %lengths {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %2 = gather %1, %0 {axis = 0} : i64[2, exact(L / 2)]
    %3 = cumsum %lengths {axis = 0, exclusive} : i64[L]
    %4 = reshape %3 {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %5 = gather %4, %0 {axis = 0} : i64[2, exact(L / 2)]
    %6 = reshape %5 {to = [L]} : i64[L]
    %7 = reshape %2 {to = [L]} : i64[L]
    %8 = cumsum %7 {axis = 0, complete} : i64[L + 1]
    %9 = slice %8 {starts = [L], sizes = [1]} : i64[1]
    %10 = reshape %9 {to = []} : i64[]
    %11 = const {value = 0} : i64[]
    %12 = const {value = 1} : i64[]
    %13 = range %11, %10, %12 : i64[m]
    %14 = slice %8 {starts = [1], sizes = [L]} : i64[L]
    %15 = bucketize %13, %14 {right} : i64[m]
    %16 = slice %8 {starts = [0], sizes = [L]} : i64[L]
    %17 = sub %6, %16 : i64[L]
    %18 = gather %17, %15 {axis = 0} : i64[m]
    %19 = add %13, %18 : i64[m]
    %20 = gather %ids, %19 {axis = 0} : i64[m]
    %21 = cumsum %7 {axis = 0, complete, rising} : i64[L + 1]
    %22 = slice %21 {starts = [0], sizes = [exact(L / 2)], steps = [1]} : i64[exact(L / 2)]
    %23 = bag @t, %20, %22 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    ret %23
  }
}
