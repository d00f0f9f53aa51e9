# A pass that does not exist.
# run: nonsense
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pipeline "nonsense", at "nonsense": no such pass
