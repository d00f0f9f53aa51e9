# run:
module @unclosed {
  graph @main() {
    ret
  }
# expect-error: 7:1: expected '}', but the text ends here
