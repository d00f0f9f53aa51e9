# A group that does not end.
# run: (dce
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pipeline "(dce", at "": a group ends in ")*"
