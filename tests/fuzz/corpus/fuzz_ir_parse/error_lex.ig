module @lex {
  weight @a : f32[1] = [1x]
  weight @"b : f32[1] = [1]
  weight @ : f32[1] = [1]
  weight @"\q" : f32[1] = [1]
  symbol X {origin = "\x00"}
  symbol Y {origin = "no end
  }
  graph @g(% : f32[]) { ret }
  graph @h(%x: f32[]) { ! }
  weight @c : f32[1] = [- 1]
}
