# Dimension expressions and symbols.
# run:
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
# expect-error: 4:10: no number is in this range
# expect-error: 5:10: no number is in this range
# expect-error: 6:10: symbol S was used or declared before here
# expect-error: 7:25: expected '+' or '*', found ')'
# expect-error: 8:10: symbol B was used or declared before here
# expect-error: 9:13: expected min, max, multiple, origin or defined, found 'limit'
# expect-error: 10:15: the extents of a constant are numbers
# expect-error: 11:27: expected a dimension, found ']'
# expect-error: 12:27: expected '/', found ','
# expect-error: 13:29: a divisor must be positive
# expect-error: 14:20: expected min, max, bcast, floor, ceil or exact before '(', found 'foo'
# expect-error: 15:20: this is no 64-bit integer
# expect-error: 16:24: expected a dimension, found '*'
# expect-error: 17:22: expected ')', found ']'
