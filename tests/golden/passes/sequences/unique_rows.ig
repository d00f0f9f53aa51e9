# resolve_shapes: rows are sorted by each column, from the last to the first.
# run: resolve_shapes,dce
# then: fuse,bufferise,lower
module @m {
  graph @main(%x: f32[A, 3]) -> (f32[n, 3]) {
    %0, %1, %2, %3 = unique %x {axis = 0} : f32[n, 3], i64[n], i64[A], i64[n]
    ret %0
  }
}
# expect:
module @m {
  symbol n {origin = "an extent that the model computes"}
  graph @main(%x: f32[A, 3]) -> (f32[n, 3]) {
    %0 = const {value = 3} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = 0} : i64[]
    %3 = const {value = 1} : i64[]
    %4 = dims {values = [A]} : i64[1]
    %5 = reshape %4 {to = []} : i64[]
    %6 = range %2, %5, %3 : i64[A]
    %7 = loop %0, %1, %6 : i64[A] (%8: i64[], %9: bool[], %10: i64[A]) {
      %11 = const {value = -1} : i64[]
      %12 = add %0, %11 : i64[]
      %13 = sub %12, %8 : i64[]
      %14 = gather %x, %13 {axis = 1, negative = error} : f32[A]
      %15 = gather %14, %10 {axis = 0, negative = error} : f32[A]
      %16, %17 = sort %15 {axis = 0} : f32[A], i64[A]
      %18 = gather %10, %17 {axis = 0, negative = error} : i64[A]
      yield %9, %18
    }
    %19 = gather %x, %7 {axis = 0, negative = error} : f32[A, 3]
    %20 = const {value = 0} : i64[]
    %21 = const {value = 1} : i64[]
    %22 = dims {values = [A]} : i64[1]
    %23 = reshape %22 {to = []} : i64[]
    %24 = range %20, %23, %21 : i64[A]
    %25 = const {value = 0} : i64[]
    %26 = const {value = -1} : i64[]
    %27 = add %24, %26 : i64[A]
    %28 = max %27, %25 : i64[A]
    %29 = gather %19, %28 {axis = 0, negative = error} : f32[A, 3]
    %30 = ne %19, %29 : bool[A, 3]
    %31 = isnan %19 : bool[A, 3]
    %32 = gather %31, %28 {axis = 0, negative = error} : bool[A, 3]
    %33 = and %31, %32 : bool[A, 3]
    %34 = not %33 : bool[A, 3]
    %35 = and %30, %34 : bool[A, 3]
    %36 = eq %24, %25 : bool[A]
    %37 = cast %35 {to = i64} : i64[A, 3]
    %38 = reduce %37 {axes = [1]} : i64[A]
    %39 = const {value = 0} : i64[]
    %40 = ne %38, %39 : bool[A]
    %41 = or %40, %36 : bool[A]
    %42 = cast %41 {to = i64} : i64[A]
    %43 = cumsum %42 {axis = 0} : i64[A]
    %44 = cast %41 {to = i64} : i64[A]
    %45 = reduce %44 {keep} : i64[1]
    bind %45 {symbols = [n]}
    %46 = dims {values = [n]} : i64[1]
    %47 = reshape %46 {to = []} : i64[]
    %48 = const {value = -1} : i64[]
    %49 = add %43, %48 : i64[A]
    %50 = where %41, %49, %47 : i64[A]
    %51 = const {value = 0} : i64[]
    %52 = const {value = 1} : i64[]
    %53 = dims {values = [A]} : i64[1]
    %54 = reshape %53 {to = []} : i64[]
    %55 = range %51, %54, %52 : i64[A]
    %56 = const {value = 0} : i64[]
    %57 = expand %56 {to = [n + 1]} : i64[n + 1]
    %58 = scatter_elements %57, %50, %55 {axis = 0, is_checked} : i64[n + 1]
    %59 = slice %58 {starts = [0], sizes = [n]} : i64[n]
    %60 = gather %19, %59 {axis = 0, negative = error} : f32[n, 3]
    ret %60
  }
}
