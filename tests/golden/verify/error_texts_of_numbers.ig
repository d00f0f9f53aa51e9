# No bits become addresses.
# run:
module @texts {
  graph @main(%n: i64[4]) -> (str[4]) {
    %0 = bitcast %n {to = str}
    ret %0
  }
}
# expect-error:
