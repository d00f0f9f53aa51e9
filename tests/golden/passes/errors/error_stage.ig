# A pass that runs at another stage.
# run: lower
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pass lower runs on no graph of this module: they are at another stage
