module @dims {
  symbol A {min = 3, max = 2}
  symbol C {multiple = 0}
  symbol S {defined = S + 1}
  symbol Z {defined = (B)}
  symbol B {max = 3}
  symbol D {limit = 3}
  weight @w : f32[N] = [1]
  graph @main(%x: f32[B + ]) { ret }
  graph @a(%x: f32[floor(B, 2)]) { ret }
  graph @b(%x: f32[ceil(B / 0)]) { ret }
  graph @c(%x: f32[foo(B)]) { ret }
  graph @d(%x: f32[9223372036854775808]) { ret }
  graph @e(%x: f32[2 * * B]) { ret }
  graph @f(%x: f32[(B]) { ret }
}
