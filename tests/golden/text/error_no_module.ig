# run:
graph @main() {
  ret
}
# expect-error: 2:1: expected 'module', found 'graph'
