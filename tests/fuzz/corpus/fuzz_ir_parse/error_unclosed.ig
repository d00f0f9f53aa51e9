module @unclosed {
  graph @main() {
    ret
  }
