# bag_whole: bags over parts and over permuted segments read the caller's list; mixed with what is no sum they stay.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L], %w: f32[N], %at: i64[1]) -> (f32[exact(L / 2), 4], f32[exact(L / 2), 4], f32[exact(L / 2), 4]) {
    %0 = reshape %lengths {to = [2, exact(L / 2)]}
    %1 = reduce %0 {op = sum, axes = [1]}
    %2 = slice %1 {starts = [0], sizes = [1]}
    %3 = slice %1 {starts = [1], sizes = [1]}
    %4 = add %2, %3
    bind %2 {symbols = [n]}
    bind %4 {symbols = [n2]}
    bind %at {symbols = [k]}
    %5 = slice %ids {starts = [min(N, n)], sizes = [max(0, min(N, n2) - min(N, n))]}
    %6 = slice %w {starts = [min(N, n)], sizes = [max(0, min(N, n2) - min(N, n))]}
    %7 = slice %lengths {starts = [exact(L / 2)], sizes = [exact(L / 2)]}
    %8 = cumsum %7 {axis = 0, complete, rising}
    %9 = bag @t, %5, %8, %6 {operands = [5], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    %10 = const {value = i64[2] [1, 0]}
    %11 = gather %0, %10 {axis = 0}
    %12 = cumsum %lengths {axis = 0, exclusive}
    %13 = reshape %12 {to = [2, exact(L / 2)]}
    %14 = gather %13, %10 {axis = 0}
    %15 = reshape %14 {to = [L]}
    %16 = reshape %11 {to = [L]}
    %17 = cumsum %16 {axis = 0, complete}
    %18 = slice %17 {starts = [L], sizes = [1]}
    %19 = reshape %18 {to = []}
    %20 = const {value = i64[] 0}
    %21 = const {value = i64[] 1}
    %22 = range %20, %19, %21 : i64[m]
    %23 = slice %17 {starts = [1], sizes = [L]}
    %24 = bucketize %22, %23 {right} : i64[m]
    %25 = slice %17 {starts = [0], sizes = [L]}
    %26 = sub %15, %25
    %27 = gather %26, %24 {axis = 0}
    %28 = add %22, %27
    %29 = gather %ids, %28 {axis = 0}
    %30 = cumsum %16 {axis = 0, complete, rising}
    %31 = slice %30 {starts = [exact(L / 2)], sizes = [exact(L / 2)], steps = [1]}
    %32 = bag @t, %29, %31 {operands = [1], pool = [mean], offsets = clamp} : f32[exact(L / 2), 4]
    %33 = slice %ids {starts = [min(N, k)], sizes = [max(0, min(N, n2) - min(N, k))]}
    %34 = bag @t, %33, %8 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    ret %9, %32, %34
  }
}
# expect:
module @m {
  symbol L {multiple = 2}
  weight @t : f32[8, 4] = splat(1)
  graph @main(%ids: i64[N], %lengths: i64[L], %w: f32[N], %at: i64[1]) -> (f32[exact(L / 2), 4], f32[exact(L / 2), 4], f32[exact(L / 2), 4]) {
    %0 = reshape %lengths {to = [2, exact(L / 2)]} : i64[2, exact(L / 2)]
    %1 = reduce %0 {op = sum, axes = [1]} : i64[2]
    %2 = slice %1 {starts = [0], sizes = [1]} : i64[1]
    %3 = slice %1 {starts = [1], sizes = [1]} : i64[1]
    %4 = add %2, %3 : i64[1]
    bind %4 {symbols = [n2]}
    bind %at {symbols = [k]}
    %5 = slice %lengths {starts = [exact(L / 2)], sizes = [exact(L / 2)]} : i64[exact(L / 2)]
    %6 = cumsum %5 {axis = 0, complete, rising} : i64[exact(L / 2) + 1]
    %7 = cumsum %lengths {axis = 0, complete, rising} : i64[L + 1]
    %8 = slice %7 {starts = [exact(L / 2)], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %9 = bag @t, %ids, %8, %w {operands = [5], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    %10 = slice %7 {starts = [0], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %11 = bag @t, %ids, %10 {operands = [1], pool = [mean], last = [offset], offsets = clamp} : f32[exact(L / 2), 4]
    %12 = slice %ids {starts = [min(N, k)], sizes = [max(0, -min(N, k) + min(N, n2))]} : i64[max(0, -min(N, k) + min(N, n2))]
    %13 = bag @t, %12, %6 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[exact(L / 2), 4]
    ret %9, %11, %13
  }
}
