# Texts: what is done to them, and lists that they come from.
# run:
module @texts {
  graph @main(%x: str[N, 4], %y: str[N, 4], %r: str[M], %f: f32[N]) -> (bool[N, 4], i64[N, 4], str[N, 4, P], str[Q], f64[N, 4], str[N], bool[N, 4], str[2]) {
    %0 = const {value = [104, 105, 0, 0]} : u8[4]
    %1 = text_of %0 {shape = [2]}
    %2 = text_eq %x, %y
    %3 = text_join %x, %y
    %4 = text_find %3, %0
    %5 = text_match %3, %0
    %6 = text_parse %x {to = f64}
    %7 = text_print %f
    %8, %9 = text_split %x, %0 {max = 2} : str[N, 4, P], i64[N, 4]
    %10 = text_clean %r, %0, %0 {letters = upper, insensitive} : str[Q]
    %11 = text_clean %r, %0, %0 : str[K]
    %12 = text_parse %x {to = i64}
    %13 = text_order %x
    ret %2, %4, %8, %10, %6, %7, %5, %1
  }
}
# expect:
module @texts {
  graph @main(%x: str[N, 4], %y: str[N, 4], %r: str[M], %f: f32[N]) -> (bool[N, 4], i64[N, 4], str[N, 4, P], str[Q], f64[N, 4], str[N], bool[N, 4], str[2]) {
    %0 = const {value = [104, 105, 0, 0]} : u8[4]
    %1 = text_of %0 {shape = [2]} : str[2]
    %2 = text_eq %x, %y : bool[N, 4]
    %3 = text_join %x, %y : str[N, 4]
    %4 = text_find %3, %0 : i64[N, 4]
    %5 = text_match %3, %0 : bool[N, 4]
    %6 = text_parse %x {to = f64} : f64[N, 4]
    %7 = text_print %f : str[N]
    %8, %9 = text_split %x, %0 {max = 2} : str[N, 4, P], i64[N, 4]
    %10 = text_clean %r, %0, %0 {letters = upper, insensitive} : str[Q]
    %11 = text_clean %r, %0, %0 : str[K]
    %12 = text_parse %x {to = i64} : i64[N, 4]
    %13 = text_order %x : i64[N, 4]
    ret %2, %4, %8, %10, %6, %7, %5, %1
  }
}
