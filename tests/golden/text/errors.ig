# ---- attributes ----
# Attributes: of the kind that the op's row says, once, and all that it needs.
# run:
module @attributes {
  weight @t : f32[4, 2] = splat(1)
  graph @main(%x: f32[4], %b: f32[2, 2, 2]) {
    %0 = softmax %x
    %1 = softmax %x {axis = "0"}
    %2 = softmax %x {axis = 0, axis = 0}
    %3 = softmax %x {axis = 0, log = 1}
    %4 = reduce %x {op = summ}
    %5 = cast %x {to = float}
    %6 = reduce %x {axes = [0, x]}
    %7 = layer_norm %x {axis = 0, epsilon = small}
    %8 = concat %x {axis = 9223372036854775808}
    %9 = dims {values = 3}
    guard eq(4) "one"
    guard lt(4, 5)
    guard {left = 4, right = 5, message = 3}
    %10 = reduce %x {axes = [0] keep}
    %11 = relu %x {,}
    %12 = bag @t, %x {operands = [0], pool = [0]}
    %13 = bag @t, %x {operands = [0], pool = [sum, summ]}
    %14 = bag @t, %x {operands = [0], pool = [sum], last = [sum]}
    %15 = bag @t, %x {operands = [0], pool = sum}
    ret
  }
}
# expect-error: 6:10: softmax needs attribute 'axis'
# expect-error: 7:29: expected an integer, found '"0"'
# expect-error: 8:32: attribute 'axis' is given twice
# expect-error: 9:38: expected true or false, found '1'
# expect-error: 10:26: expected one of sum, mean, max, min, prod, sumsq, l1, l2, logsum, logsumexp, found 'summ'
# expect-error: 11:24: expected an element type, found 'float'
# expect-error: 12:32: expected an integer, found 'x'
# expect-error: 13:45: 'small' is not a number
# expect-error: 14:28: this is not a 64-bit integer
# expect-error: 15:25: expected '[', found '3'
# expect-error: 16:15: expected ',', found ')'
# expect-error: 17:11: expected eq or le, found 'lt'
# expect-error: 18:43: expected a quoted string, found '3'
# expect-error: 19:33: expected ',' or '}', found 'keep'
# expect-error: 20:20: expected an attribute, found ','
# expect-error: 21:47: expected one of sum, mean, max, none, found '0'
# expect-error: 22:52: expected one of sum, mean, max, none, found 'summ'
# expect-error: 23:61: expected one of ids, offset, mean, rest, found 'sum'
# expect-error: 24:46: expected '[', found 'sum'
# ---- behind ----
# run:
module @a {
}
module @b {
}
# expect-error: 4:1: expected nothing after the module, found 'module'
# ---- deep ----
# Nesting is bounded.
# run:
module @deep {
  graph @main(%c: bool[]) {
    if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { if %c { yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield } yield } else { yield }
    ret
  }
}
# expect-error: 5:523: the nesting exceeds limit graph_depth (64)
# ---- deep_types ----
# Nesting of types and expressions is bounded too.
# run:
module @deep {
  graph @a(%c: f32[((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((B))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))]) { ret }
  graph @b(%c: seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<seq<f32[]>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>) { ret }
}
# expect-error: 4:92: this expression nests too deep
# expect-error: 5:276: the nesting exceeds limit graph_depth (64)
# ---- dims ----
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
# expect-error: 15:20: this is not a 64-bit integer
# expect-error: 16:24: expected a dimension, found '*'
# expect-error: 17:22: expected ')', found ']'
# ---- end ----
# run:
# expect-error: 6:10: operand 0 is bool[], on whose elements relu is not defined
# expect-error: 7:5: if has 1 operands, here are 0
module @end {
  graph @main(%c: bool[]) {
    %0 = relu %c
    if
# ---- error_data ----
# Constants whose content does not fit their type.
# run:
module @data {
  weight @a : f32[3] = [1, 2]
  weight @b : f32[2] = [1, 2, 3]
  weight @c : i8[2] = [128, 1]
  weight @d : u4[2] = [-1, 1]
  weight @e : f16[1] = [65536]
  weight @f : f32[2] = inline(0x00)
  weight @g : f32[1] = inline(0x0000000)
  weight @h : bool[1] = [2]
  weight @i : f32[1000000000000] = [1]
  weight @j : f32[9223372036854775807, 2] = splat(1)
  weight @k : i32[1] = [1.5]
  weight @l : f32[2] = 1
  weight @m : i8<rowwise f16>[1, 1] = inline(0x0000000000)
  table @n : f32[2] = [1, 2]
  table @o : i8<rowwise f16>[1, 1] = splat(1)
  weight @p : f32[1] = file("../outside.bin", 0, 4)
  weight @q : f32[1] = file("missing.bin", 0, 4)
  weight @r : f32[1] = file("weights.bin", 0, 8)
}
# expect-error: 4:24: the type has 3 elements, here are 2
# expect-error: 5:24: the type has 2 elements, here are 3
# expect-error: 6:24: '128' is out of range for this element type
# expect-error: 7:24: '-1' is out of range for this element type
# expect-error: 8:25: '65536' is out of range for this element type
# expect-error: 9:31: the type has 8 bytes, here are 1
# expect-error: 10:31: the type has 4 bytes, here are 3 and a half
# expect-error: 11:26: '2' is neither true nor false
# expect-error: 12:36: the type has 1000000000000 elements, the text holds fewer
# expect-error: 13:45: a constant needs a type whose size is known
# expect-error: 14:25: '1.5' is not an integer
# expect-error: 15:24: expected […], splat(…), inline(0x…) or file(…), found '1'
# expect-error: 16:15: a weight is a tensor, f32[2, 3]; a table has rows, i8<rowwise f16>[2, 3]
# expect-error: 17:14: a weight is a tensor, f32[2, 3]; a table has rows, i8<rowwise f16>[2, 3]
# expect-error: 18:38: expected inline(0x…) or file(…), since rows have scales, found 'splat'
# expect-error: 19:29: '../outside.bin': ".." is not followed
# expect-error: 20:29: 'missing.bin': no such file
# expect-error: 21:29: the type has 4 bytes, not 8
# ---- error_more_data ----
# More constants: outside of their file, elided, twice, of strings, without a type.
# run:
module @data {
  weight @a : f32[1] = file("weights.bin", 9223372036854775807, 4)
  weight @b : f32[1] = file("weights.bin", -4, 4)
  weight @c : f32[1] = elided(4)
  weight @d : f32[1] = [1]
  weight @d : f32[1] = [1]
  weight @e : str[1] = ["a"]
  weight @f : f32[1] = recipe(-1)
  weight @g : f32[1] = [0x1ffffffff]
  weight @h : f32[1] = splat()
  weight @i : u8[1] = splat(-1)
  weight @j : f32[1] = file("weights.bin", 0, 4, 0x12)
  weight @k : f32[1] = file("weights.bin", 0, 4, 0x0123456789abcdef)
  graph @main() {
    %0 = const {value = [1, 2]}
    %1 = const {value = f32[2] [1, 2, "x"]} : f32[2]
    ret
  }
}
# expect-error: 4:29: 'weights.bin' has 64 bytes, too few for offset 9223372036854775807 + 4
# expect-error: 5:29: 'weights.bin' has 64 bytes, too few for offset -4 + 4
# expect-error: 6:31: expected bytes; they were left out when this was printed, found '4'
# expect-error: 8:15: there is a weight or table @d already
# expect-error: 9:24: a constant needs a type whose size is known
# expect-error: 10:24: there is no such result
# expect-error: 11:25: '0x1ffffffff' is out of range for this element type
# expect-error: 12:30: expected a number, found ')'
# expect-error: 13:29: '-1' is out of range for this element type
# expect-error: 14:50: expected a hash, 0x and 16 digits, found '0x12'
# expect-error: 15:50: 'weights.bin' holds other bytes at 0 than those that this text was written with
# expect-error: 17:25: the type of this constant is not given
# expect-error: 18:39: expected a number, found '"x"'
# ---- forest ----
# A forest is summed, or its least or greatest is taken.
# run: infer
module @forest {
  graph @main(%x: f32[N, 4], %t: f32[7], %n: i64[7], %s: i64[2, 2], %l: i32[7], %w: f32[3, 2]) -> (f32[N, 2]) {
    %0 = forest %x, %t, %n, %s, %l, %w {targets = 2, op = prod} : f32[N, 2]
    ret %0
  }
}
# expect-error: 5:10: trees are summed, or the smallest or largest is taken
# ---- head ----
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
# ---- lex ----
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
# ---- recipe ----
# A recipe names a result of graph @weights, of the weight's type.
# run:
module @recipe {
  weight @a : f32[1] = recipe(0)
  weight @b : f32[2] = recipe(1)
  weight @c : f32[2] = recipe(2)
  private graph @weights() -> (f32[1], f32[1]) {
    %0 = const {value = [1]} : f32[1]
    ret %0, %0
  }
}
# expect-error: weight @b is of another type than its result of graph @weights
# expect-error: weight @c is a result that graph @weights does not have
# ---- rows ----
# Rows that cannot be.
# run:
module @m {
  table @a : u8<rowwise f16 stride 5>[2, 2] = inline(0x00)
}
# expect-error: 4:38: such rows do not exist: the stride is too short, or the small float is not a known one
# ---- several ----
# Several errors of one file are all reported; what follows from them is not.
# run:
module @several {
  graph @main(%x: f32[B], %c: bool[]) {
    %0 = frob %x
    %1 = relu %0
    if %c {
      %2 = relu %x {foo = 1}
      yield %2, %1
    } else {
      %2 = relu %x %x
      yield
    }
    %3 = add %x
    loop %c, %unknown {
      what { is this } %
    }
    $
    ret %3
  }
  weigth @w : f32[2] = [1, 2]
  graph @main() {
  }
}
# expect-error: 5:10: there is no op 'frob'
# expect-error: 8:21: relu has no attribute 'foo'
# expect-error: 11:20: expected the next statement on a line of its own, found '%x'
# expect-error: 14:10: add has 2 operands, here are 1
# expect-error: 15:14: %unknown is not defined
# expect-error: 18:5: a character that no token begins with
# expect-error: 21:3: expected symbol, weight, table, graph, plan or kernel, found 'weigth'
# expect-error: 22:9: there is a graph @main already
# ---- signature ----
# Broken signatures and states are told where they stand.
# run:
module @broken {
  weight @n : i64[] = 0
  graph @a(%x: f32[3]) as forward(x: f33[3]) -> tensor { ret %x }
  graph @b(%x: f32[3]) as forward(x tensor) -> tensor { ret %x }
  graph @c(%x: f32[3]) as forward(x: tensor) { ret %x }
  graph @d(%x: f32[3]) as forward(x: tensor) -> tensor after x: 3 { ret %x }
  graph @e(%n: i64[] = @n, %x: f32[3]) { ret %x, %n }
  graph @f(%n: i64[] = 3) { ret %n }
  graph @g(%x: f32[3]) as forward(x: kjt(keys=[])) -> tensor { ret %x }
}
# expect-error: 5:41: the signature: 'f33' is neither a type nor a value
# expect-error: 6:37: the signature: expected ':' after the name of an argument
# expect-error: 7:46: the signature: expected '->' and the result
# expect-error: 8:67: the signature: expected tensors that the call changes
# expect-error: 9:38: expected '=' and the state's first value, found ')'
# expect-error: 10:24: expected a weight, @name, found '3'
# expect-error: 11:50: the signature: kjt has the fields keys values lengths weights, in this order
# ---- types ----
# Types: those given must be what the operands give.
# run:
module @types {
  graph @main(%x: f32[B, 4], %y: f32[5], %z: f33[2], %w: f32[2]) {
  }
  graph @second(%x: f32[B, 4], %y: f32[5], %c: bool[]) -> (f32[B, 3], f32[]) {
    %0 = relu %x : f32[B, 5]
    %1 = relu %x : f16[B, 4]
    %2 = add %x, %y
    %3 = if %c { yield %x } else { yield %x }
    %4 = relu %x : f32[B, 4], f32[B, 4]
    %5 = matmul %y, %x : f32[4
    %6 = relu %x : f32<0>[2]
    %7 = relu %x : f32[-1]
    %8 = relu %x : f32<rowwise f64>[2, 2]
    %9 = relu %x : i8<rowwise f16>[2]
    %10 = relu %x : seq<f32[2]
    %11 = relu %x : f32<70000>
    %12 = transpose %x {perm = [0, 0]}
    %13 = transpose %x
    ret %x, %x
  }
}
# expect-error: 4:46: expected a type, found 'f33'
# expect-error: 7:10: result 0 of relu is f32[B, 4], not f32[B, 5]
# expect-error: 8:10: result 0 of relu is f32[B, 4], not f16[B, 4]
# expect-error: 9:10: operand 1 is f32[5], which does not broadcast with f32[B, 4]
# expect-error: 10:10: the result types of if must be given
# expect-error: 11:10: relu has more types than results
# expect-error: 13:5: expected ',' or ']', found '%6'
# expect-error: 13:24: a vector has 1 to 65535 lanes
# expect-error: 14:24: an extent is never negative
# expect-error: 15:32: expected f32, f16, float, stride or '>', found 'f64'
# expect-error: 16:35: a table has two extents: rows and their length
# expect-error: 18:5: expected '>', found '%11'
# expect-error: 18:25: a vector has 1 to 65535 lanes
# expect-error: 19:11: the axes given are not a permutation: entry 1 is 0
# expect-error: 20:11: transpose needs attribute 'perm'
# expect-error: 6:56: result 0 is not of the type that ret returns
# ---- unclosed ----
# run:
module @unclosed {
  graph @main() {
    ret
  }
# expect-error: 7:1: expected '}', but the text ends here
# ---- values ----
# Names of values: defined once, before their use, visible in their block only.
# run:
module @values {
  graph @main(%x: f32[], %n: i64[], %c: bool[]) {
    %0 = relu %a
    %x = relu %n
    loop %n, %c (%i: i64[], %k: bool[]) {
      yield %k
    }
    %1 = relu %i
    %2 = relu @w
    %3 = weight {name = @w}
    %4, %5 = relu %x
    ret %0, %1, %2, %3, %4
  }
}
# expect-error: 5:15: %a is not defined
# expect-error: 6:5: %x is defined already on line 4
# expect-error: 10:15: %i is defined on line 7, in a block closed by now
# expect-error: 11:15: no weight or table @w is defined before this
# expect-error: 12:10: write @name where the weight is used
# expect-error: 13:14: relu has 1 results, here are 2 names
