module @head {
  graph main() { ret }
  graph @a(%x f32[]) { ret }
  graph @b(%x: f32[], %x: f32[]) { ret }
  graph @c() -> (f32[]) { ret }
  graph @d(%x: f32[]) -> (f64[]) { ret %x }
  graph @e() { ret } graph @e() { ret }
  secret graph @f() { ret }
  graph @g(%x: f32[]) -> f32[] { ret %x }
}
