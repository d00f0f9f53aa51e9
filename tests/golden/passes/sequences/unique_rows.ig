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
    %0 = dims {values = [3]} : i64[1]
    %1 = reshape %0 {to = []} : i64[]
    %2 = const {value = true} : bool[]
    %3 = const {value = 0} : i64[]
    %4 = const {value = 1} : i64[]
    %5 = dims {values = [A]} : i64[1]
    %6 = reshape %5 {to = []} : i64[]
    %7 = range %3, %6, %4 : i64[A]
    %8 = loop %1, %2, %7 : i64[A] (%9: i64[], %10: bool[], %11: i64[A]) {
      %12 = const {value = -1} : i64[]
      %13 = add %1, %12 : i64[]
      %14 = sub %13, %9 : i64[]
      %15 = gather %x, %14 {axis = 1, negative = error} : f32[A]
      %16 = gather %15, %11 {axis = 0, negative = error} : f32[A]
      %17, %18 = sort %16 {axis = 0} : f32[A], i64[A]
      %19 = gather %11, %18 {axis = 0, negative = error} : i64[A]
      yield %10, %19
    }
    %20 = gather %x, %8 {axis = 0, negative = error} : f32[A, 3]
    %21 = const {value = 0} : i64[]
    %22 = const {value = 1} : i64[]
    %23 = dims {values = [A]} : i64[1]
    %24 = reshape %23 {to = []} : i64[]
    %25 = range %21, %24, %22 : i64[A]
    %26 = const {value = 0} : i64[]
    %27 = const {value = -1} : i64[]
    %28 = add %25, %27 : i64[A]
    %29 = max %28, %26 : i64[A]
    %30 = gather %20, %29 {axis = 0, negative = error} : f32[A, 3]
    %31 = ne %20, %30 : bool[A, 3]
    %32 = isnan %20 : bool[A, 3]
    %33 = gather %32, %29 {axis = 0, negative = error} : bool[A, 3]
    %34 = and %32, %33 : bool[A, 3]
    %35 = not %34 : bool[A, 3]
    %36 = and %31, %35 : bool[A, 3]
    %37 = eq %25, %26 : bool[A]
    %38 = cast %36 {to = i64} : i64[A, 3]
    %39 = reduce %38 {axes = [1]} : i64[A]
    %40 = const {value = 0} : i64[]
    %41 = ne %39, %40 : bool[A]
    %42 = or %41, %37 : bool[A]
    %43 = cast %42 {to = i64} : i64[A]
    %44 = cumsum %43 {axis = 0} : i64[A]
    %45 = cast %42 {to = i64} : i64[A]
    %46 = reduce %45 {keep} : i64[1]
    bind %46 {symbols = [n]}
    %47 = const {value = 0} : i64[]
    %48 = const {value = 1} : i64[]
    %49 = dims {values = [n]} : i64[1]
    %50 = reshape %49 {to = []} : i64[]
    %51 = range %47, %50, %48 : i64[n]
    %52 = const {value = 1} : i64[]
    %53 = add %51, %52 : i64[n]
    %54 = bucketize %53, %44 : i64[n]
    %55 = gather %20, %54 {axis = 0, negative = error} : f32[n, 3]
    ret %55
  }
}
