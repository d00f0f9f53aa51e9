graph @main() {
  ret
}
