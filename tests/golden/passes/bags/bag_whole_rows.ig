# bag_whole: shards by rows read the caller's ids and skip those of others; their means stay theirs, and a warning says so.
# run: bag_whole,cse,dce
# values: lengths parts ids
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[8, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B]) -> (f32[B, 4], f32[B, 4], f32[B, 4]) {
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
    %21 = cumsum %17 {axis = 0, complete, rising}
    %22 = slice %21 {starts = [0], sizes = [B + 1]}
    %23 = slice %21 {starts = [B], sizes = [B + 1]}
    %24 = bag @low, %20, %22 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp}
    %25 = bag @high, %20, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp}
    %26 = add %24, %25
    %27 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp, whole}
    %28 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp}
    ret %26, %27, %28
  }
}
# expect:
module @m {
  weight @low : f32[8, 4] = splat(1)
  weight @high : f32[8, 4] = splat(2)
  graph @main(%ids: i64[N], %lengths: i64[B]) -> (f32[B, 4], f32[B, 4], f32[B, 4]) {
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
    %21 = cumsum %17 {axis = 0, complete, rising} : i64[2*B + 1]
    %22 = slice %21 {starts = [0], sizes = [B + 1]} : i64[B + 1]
    %23 = cumsum %lengths {axis = 0, complete, rising} : i64[B + 1]
    %24 = const {value = -1} : i64[]
    %25 = eq %9, %0 : bool[N]
    %26 = where %25, %11, %24 : i64[N]
    %27 = bag @low, %26, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %28 = eq %9, %1 : bool[N]
    %29 = where %28, %11, %24 : i64[N]
    %30 = bag @high, %29, %23 {operands = [1], pool = [sum], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %31 = add %27, %30 : f32[B, 4]
    %32 = bag @low, %26, %23 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    %33 = bag @low, %20, %22 {operands = [1], pool = [mean], last = [offset], negative = skip, range = first, offsets = clamp} : f32[B, 4]
    ret %31, %32, %33
  }
}
