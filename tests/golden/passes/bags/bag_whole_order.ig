# bag_whole: rows of dealt ids that are put back in order are looked up where the ids stand; in another order they are not.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[7, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B], %other: i64[N]) -> (f32[N, 4], f32[N, 4]) {
    %0 = const {value = i64[] 0}
    %1 = const {value = i64[] 1}
    %2 = const {value = i64[] 8}
    %3 = dims {values = [N], scalar}
    %4 = dims {values = [B], scalar}
    %5 = cumsum %lengths {axis = 0, complete}
    %6 = slice %5 {starts = [1], sizes = [B]}
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right}
    %9 = div %ids, %2
    %10 = mul %9, %2
    %11 = sub %ids, %10
    %12 = mul %9, %4
    %13 = add %12, %8
    %14 = reshape %13 {to = [N, 1]}
    %15 = expand %0 {to = [2*B]}
    %16 = expand %1 {to = [N]}
    %17 = scatter_nd %15, %14, %16 {reduce = add}
    %18, %19 = sort %13 {axis = 0}
    %20 = gather %11, %19 {axis = 0}
    %21 = reshape %17 {to = [2, B]}
    %22 = reduce %21 {op = sum, axes = [1]}
    %23 = slice %22 {starts = [0], sizes = [1]}
    bind %23 {symbols = [n]}
    %24 = slice %17 {starts = [0], sizes = [B]}
    %25 = cumsum %24 {axis = 0, complete, rising}
    %26 = slice %20 {starts = [0], sizes = [min(N, n)]}
    %27 = bag @low, %26, %25 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp}
    %28 = slice %17 {starts = [B], sizes = [B]}
    %29 = cumsum %28 {axis = 0, complete, rising}
    %30 = slice %20 {starts = [min(N, n)], sizes = [N - min(N, n)]}
    %31 = bag @high, %30, %29 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp}
    %32 = concat %27, %31 {axis = 0}
    %33, %34 = sort %19 {axis = 0}
    %35 = gather %32, %34 {axis = 0}
    %36, %37 = sort %other {axis = 0}
    %38 = gather %32, %37 {axis = 0}
    ret %35, %38
  }
}
# expect:
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[7, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B], %other: i64[N]) -> (f32[N, 4], f32[N, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 8} : i64[]
    %3 = dims {values = [N], scalar} : i64[]
    %4 = dims {values = [B], scalar} : i64[]
    %5 = cumsum %lengths {axis = 0, complete} : i64[B + 1]
    %6 = slice %5 {starts = [1], sizes = [B]} : i64[B]
    %7 = range %0, %3, %1 : i64[N]
    %8 = bucketize %7, %6 {right} : i64[N]
    %9 = div %ids, %2 : i64[N]
    %10 = mul %9, %2 : i64[N]
    %11 = sub %ids, %10 : i64[N]
    %12 = mul %9, %4 : i64[N]
    %13 = add %12, %8 : i64[N]
    %14 = reshape %13 {to = [N, 1]} : i64[N, 1]
    %15 = expand %0 {to = [2*B]} : i64[2*B]
    %16 = expand %1 {to = [N]} : i64[N]
    %17 = scatter_nd %15, %14, %16 {reduce = add} : i64[2*B]
    %18, %19 = sort %13 {axis = 0} : i64[N], i64[N]
    %20 = gather %11, %19 {axis = 0} : i64[N]
    %21 = reshape %17 {to = [2, B]} : i64[2, B]
    %22 = reduce %21 {op = sum, axes = [1]} : i64[2]
    %23 = slice %22 {starts = [0], sizes = [1]} : i64[1]
    bind %23 {symbols = [n]}
    %24 = slice %17 {starts = [0], sizes = [B]} : i64[B]
    %25 = cumsum %24 {axis = 0, complete, rising} : i64[B + 1]
    %26 = slice %20 {starts = [0], sizes = [min(N, n)]} : i64[min(N, n)]
    %27 = bag @low, %26, %25 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp} : f32[min(N, n), 4]
    %28 = slice %17 {starts = [B], sizes = [B]} : i64[B]
    %29 = cumsum %28 {axis = 0, complete, rising} : i64[B + 1]
    %30 = slice %20 {starts = [min(N, n)], sizes = [max(0, N - n)]} : i64[max(0, N - n)]
    %31 = bag @high, %30, %29 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp} : f32[max(0, N - n), 4]
    %32 = concat %27, %31 {axis = 0} : f32[N, 4]
    %33 = cumsum %lengths {axis = 0, complete, rising} : i64[B + 1]
    %34 = const {value = -1} : i64[]
    %35 = const {value = 40} : i64[]
    %36 = shl %9, %35 : i64[N]
    %37 = const {value = 1099511627775} : i64[]
    %38 = cast %37 {to = u64} : u64[]
    %39 = cast %11 {to = u64} : u64[N]
    %40 = lt %39, %38 : bool[N]
    %41 = where %40, %11, %37 : i64[N]
    %42 = add %41, %36 : i64[N]
    %43 = const {value = 2} : i64[]
    %44 = cast %43 {to = u64} : u64[]
    %45 = cast %9 {to = u64} : u64[N]
    %46 = lt %45, %44 : bool[N]
    %47 = ne %11, %34 : bool[N]
    %48 = and %47, %46 : bool[N]
    %49 = where %48, %42, %34 : i64[N]
    %50 = bag @low, @high, %49, %33 {operands = [1], pool = [none], last = [offset], negative = skip, range = first, offsets = clamp, tables = [2]} : f32[N, 4]
    %51, %52 = sort %other {axis = 0} : i64[N], i64[N]
    %53 = gather %32, %52 {axis = 0} : f32[N, 4]
    ret %50, %53
  }
}
