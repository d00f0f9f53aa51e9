# ---- add_of_parts ----
# add_of_parts: sums of parts, each 0 where the others are not, are a concat; one of floats
# gets + 0, since a sum with 0 has no -0.  An index that no part or two have, and a part that
# is not 0 elsewhere, leave the sum.
# run: canonicalise,dce
module @m {
  graph @main(%x: f32[1, B], %y: f32[3, B], %i: i64[B]) -> (f32[3, B], i64[2, B], f32[3, B], f32[3, B], f32[3, B]) {
    %zero = const {value = 0.0} : f32[]
    %below = const {value = -0.0} : f32[]
    %none = const {value = 0} : i64[]
    %first = const {value = [true, false, false]} : bool[3, 1]
    %last = const {value = [false, true, true]} : bool[3, 1]
    %two = const {value = [true, true, false]} : bool[3, 1]
    %middle = const {value = [false, true, false]} : bool[3, 1]
    %odd = const {value = [false, true]} : bool[2, 1]
    %even = const {value = [true, false]} : bool[2, 1]
    %0 = where %last, %y, %zero : f32[3, B]
    %1 = where %first, %x, %zero : f32[3, B]
    %2 = add %0, %1
    %3 = where %odd, %i, %none : i64[2, B]
    %4 = where %even, %i, %none : i64[2, B]
    %5 = add %3, %4
    %6 = where %middle, %y, %zero : f32[3, B]
    %7 = where %first, %x, %zero : f32[3, B]
    %8 = add %6, %7
    %9 = where %two, %y, %zero : f32[3, B]
    %10 = where %last, %x, %zero : f32[3, B]
    %11 = add %9, %10
    %12 = where %last, %y, %below : f32[3, B]
    %13 = where %first, %x, %zero : f32[3, B]
    %14 = add %12, %13
    ret %2, %5, %8, %11, %14
  }
}
# expect:
module @m {
  graph @main(%x: f32[1, B], %y: f32[3, B], %i: i64[B]) -> (f32[3, B], i64[2, B], f32[3, B], f32[3, B], f32[3, B]) {
    %0 = const {value = 0} : f32[]
    %1 = const {value = -0} : f32[]
    %2 = const {value = [true, false, false]} : bool[3, 1]
    %3 = const {value = [false, true, true]} : bool[3, 1]
    %4 = const {value = [true, true, false]} : bool[3, 1]
    %5 = const {value = [false, true, false]} : bool[3, 1]
    %6 = const {value = 0} : f32[]
    %7 = add %x, %6 : f32[1, B]
    %8 = slice %y {starts = [1, 0], sizes = [2, B]} : f32[2, B]
    %9 = const {value = 0} : f32[]
    %10 = add %8, %9 : f32[2, B]
    %11 = concat %7, %10 {axis = 0} : f32[3, B]
    %12 = expand %i {to = [1, B]} : i64[1, B]
    %13 = expand %i {to = [1, B]} : i64[1, B]
    %14 = concat %12, %13 {axis = 0} : i64[2, B]
    %15 = where %5, %y, %0 : f32[3, B]
    %16 = where %2, %x, %0 : f32[3, B]
    %17 = add %15, %16 : f32[3, B]
    %18 = where %4, %y, %0 : f32[3, B]
    %19 = where %3, %x, %0 : f32[3, B]
    %20 = add %18, %19 : f32[3, B]
    %21 = where %3, %y, %1 : f32[3, B]
    %22 = where %2, %x, %0 : f32[3, B]
    %23 = add %21, %22 : f32[3, B]
    ret %11, %14, %17, %20, %23
  }
}
