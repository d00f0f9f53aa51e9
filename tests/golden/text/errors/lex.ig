# What no token begins with, strings without an end, malformed numbers and escapes.
# run:
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
# expect-error: 4:25: a malformed number
# expect-error: 5:10: a name without its closing quote
# expect-error: 6:10: a `@` without a name
# expect-error: 7:10: an escape is one of \" \\ \n \t \xNN (not \x00)
# expect-error: 8:22: an escape is one of \" \\ \n \t \xNN (not \x00)
# expect-error: 9:22: a string without its closing quote
# expect-error: 11:12: a `%` without a name
# expect-error: 12:25: a character that no token begins with
# expect-error: 13:27: expected a number, found '1'
