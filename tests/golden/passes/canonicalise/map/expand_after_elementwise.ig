# expand_after_elementwise: what is the same for every element is computed once and expanded.
# The last add has an operand of several elements, so nothing is the same for all.
# run: canonicalise
module @m {
  graph @main(%x: i64[B], %y: i64[], %z: i64[1]) -> (i64[B], i64[B], i64[B], i64[B]) {
    %0 = expand %y {to = [B]}
    %1 = mul %0, %z
    %2 = expand %z {to = [B]}
    %3 = max %2, %0
    %4 = neg %0
    %5 = add %0, %x
    ret %1, %3, %4, %5
  }
}
# expect:
module @m {
  graph @main(%x: i64[B], %y: i64[], %z: i64[1]) -> (i64[B], i64[B], i64[B], i64[B]) {
    %0 = mul %y, %z : i64[1]
    %1 = expand %0 {to = [B]} : i64[B]
    %2 = max %z, %y : i64[1]
    %3 = expand %2 {to = [B]} : i64[B]
    %4 = neg %y : i64[]
    %5 = expand %4 {to = [B]} : i64[B]
    %6 = add %y, %x : i64[B]
    ret %1, %3, %5, %6
  }
}
