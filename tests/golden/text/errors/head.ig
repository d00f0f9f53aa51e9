# Heads of graphs.
# run:
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
# expect-error: 4:9: expected the graph's name, @name, found 'main'
# expect-error: 5:15: expected ':' and a type, found 'f32'
# expect-error: 6:23: %x is defined already on line 6
# expect-error: 7:14: 1 result types, but ret has 0 operands
# expect-error: 8:23: result 0 is not of the type that ret returns
# expect-error: 9:28: there is a graph @e already
# expect-error: 10:3: expected symbol, weight, table, graph, plan or kernel, found 'secret'
# expect-error: 11:26: expected '(' and result types, found 'f32'
