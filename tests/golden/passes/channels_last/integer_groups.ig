# channels_last: groups of bytes are products of quads, merged where they share a panel.
# run: (decompose,infer,guards,canonicalise,fold,cse,dce)*,(channels_last,infer,guards,canonicalise,fold,cse,dce)*
# target: cpu:v4-vnni
module @m {
  weight @w : i8[16, 2, 3, 3] = splat(3)
  graph @main(%x: u8[N, 16, 9, 9]) -> (i32[N, 16, 9, 9] "y") {
    %0 = const {value = 128} : u8[]
    %1 = conv_integer %x, @w, %0 {group = 8, before = [1, 1], after = [1, 1]} : i32[N, 16, 9, 9]
    ret %1
  }
}
# expect:
module @m {
  weight @w : i8[16, 2, 3, 3] = splat(3)
  weight @groups : i32[8, 1, 8, 1, 1] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
  weight @w.quads.in8 : i8[1, 36, 16, 4] = recipe(0)
  weight @w.sums128.in8 : i32[16] = recipe(1)
  graph @main(%x: u8[N, 16, 9, 9]) -> (i32[N, 16, 9, 9] "y") {
    %0 = const {value = 128} : u8[]
    %1 = pad %x, %0 {before = [0, 0, 1, 1], after = [0, 0, 1, 1]} : u8[N, 16, 11, 11]
    %2 = transpose %1 {perm = [0, 2, 3, 1]} : u8[N, 11, 11, 16]
    %3 = conv_quads %2, @w.quads.in8 {kernel = [3, 3], columns = 16} : i32[N, 9, 9, 16]
    %4 = sub %3, @w.sums128.in8 : i32[N, 9, 9, 16]
    %5 = transpose %4 {perm = [0, 3, 1, 2]} : i32[N, 16, 9, 9]
    ret %5
  }
  private graph @weights() -> (i8[1, 36, 16, 4], i32[16]) {
    %0 = reshape @w {to = [16, 2, 9]} : i8[16, 2, 9]
    %1 = cast %0 {to = i32} : i32[16, 2, 9]
    %2 = const {value = 0} : i32[]
    %3 = sub %1, %2 : i32[16, 2, 9]
    %4 = reshape %3 {to = [1, 8, 2, 1, 2, 9]} : i32[1, 8, 2, 1, 2, 9]
    %5 = mul %4, @groups : i32[1, 8, 2, 8, 2, 9]
    %6 = reshape %5 {to = [1, 16, 16, 9]} : i32[1, 16, 16, 9]
    %7 = cast %6 {to = i8} : i8[1, 16, 16, 9]
    %8 = const {value = 0} : i8[]
    %9 = pad %7, %8 {before = [0, 0, 0, 0], after = [0, 0, 0, 0]} : i8[1, 16, 16, 9]
    %10 = reshape %9 {to = [1, 16, 4, 4, 9]} : i8[1, 16, 4, 4, 9]
    %11 = transpose %10 {perm = [0, 4, 2, 1, 3]} : i8[1, 9, 4, 16, 4]
    %12 = reshape %11 {to = [1, 36, 16, 4]} : i8[1, 36, 16, 4]
    %13 = reshape @w {to = [16, 2, 9]} : i8[16, 2, 9]
    %14 = cast %13 {to = i32} : i32[16, 2, 9]
    %15 = const {value = 0} : i32[]
    %16 = sub %14, %15 : i32[16, 2, 9]
    %17 = reshape %16 {to = [16, 18]} : i32[16, 18]
    %18 = reduce %17 {axes = [1]} : i32[16]
    %19 = const {value = 128} : i32[]
    %20 = mul %18, %19 : i32[16]
    ret %12, %20
  }
}
