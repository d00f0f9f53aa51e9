# ---- any_alone ----
# A tensor of any rank is handed on; nothing computes with it.
# run:
module @any_alone {
  graph @main(%x: f32[*]) -> (f32[]) {
    %0 = neg %x
    ret %0
  }
}
# expect-error: 5:10: operand 0 is f32[*], expected a tensor
# ---- any_rank ----
# A sequence of items of any rank takes one of a rank, but not the other way round.
# run: verify
module @any_rank {
  graph @main(%c: bool[], %n: i64[], %s: seq<f32[]>, %t: seq<f32[*]>) -> (seq<f32[]>) {
    %0 = if %c : seq<f32[]> {
      yield %s
    } else {
      yield %t
    }
    %1 = loop %n, %c, %s : seq<f32[]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      yield %g, %l
    }
    %2 = loop %n, %c, %s : seq<f32[*]> (%i: i64[], %g: bool[], %l: seq<f32[*]>) {
      yield %g, %s
    }
    ret %0
  }
}
# expect-error: 5:10: body 1 yields seq<f32[*]> for result 0
# expect-error: 10:10: carried value 0 changes its type
# ---- bag_update ----
# The body of an update takes and gives rows, and sees nothing else but constants.
# run: verify
module @m {
  graph @main(%w: f32[9, 4], %s: f32[9, 1], %r: i64[N], %p: i64[N], %d: f32[B, 4], %k: f32[]) -> (f32[9, 4], f32[9, 1]) {
    %0, %1 = bag_update %w, %s, %r, %p, %d {tables = 1, states = 1} (%2: f32[1, 4], %3: f32[1, 4], %4: f32[1, 1]) {
      %5 = mul %3, %k : f32[1, 4]
      yield %5, %4
    } : f32[9, 4], f32[9, 1]
    %6, %7 = bag_update %0, %1, %r, %p, %d {tables = 1, states = 1} (%8: f32[1, 4], %9: f32[1, 4], %10: f32[1, 4]) {
      yield %9, %10
    } : f32[9, 4], f32[9, 1]
    %11, %12 = bag_update %6, %7, %r, %p, %d, %k {tables = 1, states = 1} (%13: f32[1, 4], %14: f32[1, 4], %15: f32[1, 1]) {
      yield %13, %15
    } : f32[9, 4], f32[9, 1]
    ret %11, %12
  }
}
# expect-error: 6:12: operand 1 comes from outside of the bag_update
# expect-error: 9:14: the body does not take and give rows of the operands
# expect-error: 12:16: body 0 must have 4 arguments, not 3
# ---- block_ends ----
# Every block ends in its terminator, and only there.
# run: verify
module @ends {
  graph @none() {
  }
  graph @relu(%x: f32[]) {
    %0 = relu %x
  }
  graph @yields(%x: f32[]) {
    yield %x
  }
  graph @twice(%x: f32[]) {
    ret %x
    ret %x
  }
  graph @branch(%c: bool[]) {
    if %c { ret } else { guard eq(A, 1) }
    ret
  }
}
# expect-error: in 'none': a block must end in ret
# expect-error: 7:10: a block must end in ret
# expect-error: 10:5: a block must end in ret
# expect-error: 13:5: ops follow the block's end
# expect-error: 17:13: a block must end in yield
# expect-error: 17:26: a block must end in yield
# ---- blocks ----
# A block has as many threads as a GPU can run together.
# run: verify
module @blocks {
  plan @main(%x: f32[4]) -> (&f32[4]) {
    %0 = alloc : &f32[4]
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 1024}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 1025}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1, threads = 0}
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect-error: 7:5: a block has 1 to 1024 threads
# expect-error: 8:5: a block has 1 to 1024 threads
# ---- branches ----
# Both branches yield what the if gives.
# run: verify
module @branches {
  graph @main(%c: bool[], %f: f32[], %x: f32[4], %i: i64[4]) {
    %0 = if %f : f32[4] { yield %x } else { yield %x }
    %1 = if %c : f32[4] { yield %x } else { yield %i }
    %2 = if %c : f32[4] { yield } else { yield %x, %x }
    %3 = if %c : f32[4] (%y: f32[4]) { yield %y } else { yield %x }
    ret
  }
}
# expect-error: 5:10: the condition must be one bool, not f32[]
# expect-error: 6:10: body 1 yields i64[4] for result 0
# expect-error: 7:10: body 0 must yield 1 values, not 0
# expect-error: 7:10: body 1 must yield 1 values, not 2
# expect-error: 8:10: body 0 must have 0 arguments, not 1
# ---- commits ----
# Arguments are written behind commit, where a result stands in place, and not read again.
# run: verify
module @commits {
  plan @early(%x: f32[4], %y: f32[4]) -> (f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    commit
    launch %y, %y {kernel = @copy, outs = 1, grid = 1}
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1}
    commit
    ret %x, %0 {in_place = [0, -1]}
  }
  plan @inside(%x: f32[4], %y: f32[4], %c: bool[]) -> (f32[4]) {
    if %c {
      commit
      yield
    } else {
      yield
    }
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    ret %x {in_place = [0]}
  }
  plan @work(%x: f32[4], %y: i64[1]) -> (f32[4]) {
    commit
    bind %y {symbols = [n]}
    ret %x {in_place = [0]}
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect-error: 6:5: destination 1 is written in place before commit
# expect-error: 8:5: destination 1 is not a buffer of the plan
# expect-error: 10:5: operand 0 is read after it was written in place
# expect-error: 11:5: a plan commits once, in its own block
# expect-error: 16:7: a plan commits once, in its own block
# expect-error: 26:5: after commit there are only launches
# ---- computes ----
# A compute's body takes the inputs and yields the destinations.
# run: verify
module @computes {
  plan @main(%x: f32[4], %i: i64[4]) -> (&f32[4]) {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[5]
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4], %b: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %i, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 4} (%a: f32[4]) {
      yield %a
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      %2 = relu %x
      yield %2
    }
    rows {count = 4, block = 0, symbol = r} {
      yield %x
    }
    compute %x, %0 {family = "map", outs = 1} (%a: f32[4]) {
      yield %a
    }
    compute %x, %1 {family = "map", outs = 1} (%a: f32[5]) {
      yield %a
    }
    ret %0
  }
}
# expect-error: 7:5: body 0 must have 1 arguments, not 2
# expect-error: 10:5: yielded value 0 is f32[4], not &f32[5]
# expect-error: 13:5: argument 0 does not fit operand 0
# expect-error: 16:5: 2 operands cannot hold 4 destinations
# expect-error: 20:12: operand 0 comes from outside of the compute
# expect-error: 23:5: body 0 must yield 0 values, not 1
# expect-error: 23:5: a block has at least one row
# expect-error: 29:5: argument 0 does not fit operand 0
# ---- custom ----
# An operator of the user's own finds extents that are there.
# run:
module @m {
  graph @main(%x: f32[N]) -> (f32[K] "o") {
    %0 = custom %x {function = "a::b", version = 1, own = [0, 1]} : f32[K]
    ret %0
  }
}
# expect-error: 5:10: a function domain::Op takes and gives at most 32 tensors (no texts), and its extents are those of its results
# ---- defined_symbol ----
# What stands for an expression has a value when what the expression mentions has one.
# run: verify
module @defined_symbol {
  symbol B
  symbol d {defined = (B * B)}
  symbol n
  symbol e {defined = (n * n)}
  plan @main(%x: f32[B], %count: i64[1]) -> (&f32[B]) {
    %0 = alloc : &f32[B]
    %1 = view %x {offset = d, strides = [1]} : &f32[B]
    compute %1, %0 {family = "copy", outs = 1} (%2: f32[B]) {
      yield %2
    }
    %3 = view %x {offset = e, strides = [1]} : &f32[B]
    compute %3, %0 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %0
  }
}
# expect-error: 15:5: 'n' has no value yet
# ---- destinations ----
# Destinations are buffers of the plan; they are written before they are read.
# run: verify
module @destinations {
  weight @w : f32[4] = splat(1)
  plan @main(%x: f32[4], %c: bool[]) -> (&f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    %1 = alloc : &f32[4]
    %2 = alloc : &f32[4]
    launch %0, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %x, %x {kernel = @copy, outs = 1, grid = 1}
    launch %x, @w {kernel = @copy, outs = 1, grid = 1}
    if %c {
      launch %x, %0 {kernel = @copy, outs = 1, grid = 1}
      yield
    } else {
      yield
    }
    launch %0, %0 {kernel = @copy, outs = 1, grid = 1}
    %3 = alloc : &f32[4]
    %4 = view %3 {offset = 0, strides = [1, 1]} : &f32[4]
    %5 = view %3 {offset = 0, strides = [1]} : &i32[4]
    launch %x, %1 {kernel = @copy, outs = 3, grid = 1}
    launch %x, %1 {kernel = @nobody, outs = 1, grid = 1}
    launch %x, %1 {kernel = @main, outs = 1, grid = 1}
    launch %x, %x, %1 {kernel = @copy, outs = 1, grid = 1, params = [4]}
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1, scratch = -1}
    ret %1, %3
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect-error: 8:10: nothing uses this buffer
# expect-error: 9:5: operand 0 is read, but nothing has written it
# expect-error: 10:5: destination 1 is not a buffer of the plan
# expect-error: 11:5: destination 1 is not a buffer of the plan
# expect-error: 20:10: a view of rank 1 has 2 strides
# expect-error: 21:10: a view sees a buffer as a buffer of the same elements
# expect-error: 22:5: 2 operands cannot hold 3 destinations
# expect-error: 23:5: the module has no @nobody
# expect-error: 24:5: @main is not a kernel
# expect-error: 25:5: kernel @copy takes 2 buffers, not 3
# expect-error: 25:5: kernel @copy takes 0 params, not 1
# expect-error: 26:5: scratch memory cannot be negative
# expect-error: 27:5: operand 1 is read, but nothing has written it
# ---- error_texts ----
# Nothing computes with texts, or makes them of numbers.
# run:
module @texts {
  graph @main(%x: str[4], %n: i64[4]) -> (str[4]) {
    %0 = cumsum %x {axis = 0}
    ret %x
  }
}
# expect-error:
# ---- error_texts_of_numbers ----
# No bits become addresses.
# run:
module @texts {
  graph @main(%n: i64[4]) -> (str[4]) {
    %0 = bitcast %n {to = str}
    ret %0
  }
}
# expect-error:
# ---- host_values ----
# What a host value of nothing is must be of the op's kind.
# run: verify
module @host_values {
  graph @main(%x: f32[4]) -> (f32[4]) {
    %0 = seq_empty {of = f32} : f32[4]
    %1 = seq_empty {of = i64} : seq<f32[4]>
    %2 = seq_empty {of = f32} : seq<seq<f32[4]>>
    %3 = seq_empty {of = f32} : opt<f32[4]>
    %4 = opt_none : seq<f32[4]>
    %5 = opt_none : f32[4]
    %6 = opt_none : opt<seq<f32[4]>>
    ret %x
  }
}
# expect-error: 5:10: the result is f32[4], not a sequence of such tensors
# expect-error: 6:10: the result is seq<f32[4]>, not a sequence of such tensors
# expect-error: 7:10: the result is seq<seq<f32[4]>>, not a sequence of such tensors
# expect-error: 8:10: the result is opt<f32[4]>, not a sequence of such tensors
# expect-error: 9:10: the result is seq<f32[4]>, not an optional
# expect-error: 10:10: the result is f32[4], not an optional
# ---- in_place ----
# ... but not where it is the very place of the input, lies beside it, or may lie apart.
# run: verify
module @in_place {
  plan @main(%x: f32[B, 4], %y: f32[8], %z: f32[N]) -> (&f32[B, 8], &f32[16]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = N, strides = [8, 1]} : &f32[B, 4]
    %4 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %2 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    %6 = alloc : &f32[16]
    %7 = view %6 {offset = 0, strides = [1]} : &f32[8]
    %8 = view %6 {offset = 8, strides = [1]} : &f32[8]
    launch %y, %7 {kernel = @copy, outs = 1, grid = 1}
    launch %7, %8 {kernel = @copy, outs = 1, grid = 1}
    ret %0, %6
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect:
module @in_place {
  plan @main(%x: f32[B, 4], %y: f32[8], %z: f32[N]) -> (&f32[B, 8], &f32[16]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = N, strides = [8, 1]} : &f32[B, 4]
    %4 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %2 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    %5 = alloc : &f32[16]
    %6 = view %5 {offset = 0, strides = [1]} : &f32[8]
    %7 = view %5 {offset = 8, strides = [1]} : &f32[8]
    launch %y, %6 {kernel = @copy, outs = 1, grid = 1}
    launch %6, %7 {kernel = @copy, outs = 1, grid = 1}
    ret %0, %5
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# ---- in_place_ports ----
# A result stands in place of one argument of its type, and no other result does.
# run: verify
module @ports {
  graph @main(%x: f32[4], %y: f32[2, 4], %z: i32[4], %w: f32[5]) -> (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) {
    ret %x, %x, %x, %x, %x, %x {in_place = [0, 0, 1, 2, 3, 4]}
  }
  graph @few(%x: f32[4]) -> (f32[4], f32[4]) {
    ret %x, %x {in_place = [0]}
  }
  graph @negative(%x: f32[4]) -> (f32[4]) {
    ret %x {in_place = [-2]}
  }
  private graph @part(%x: f32[4]) -> (f32[4]) {
    ret %x {in_place = [0]}
  }
  weight @s : f32[4] = splat(0)
  graph @state(%x: f32[4], %s: f32[4] = @s) -> (f32[4], f32[4]) {
    ret %x, %s {in_place = [1, 0]}
  }
}
# expect-error: 5:5: results 0 and 1 overlap: both are in place of argument 0
# expect-error: 5:5: result 2 is f32[4], expected f32[2, 4], in whose place it is
# expect-error: 5:5: result 3 is f32[4], expected i32[4], in whose place it is
# expect-error: 5:5: result 4 is f32[4], expected f32[5], in whose place it is
# expect-error: 5:5: result 5 cannot be written in place of argument 4
# expect-error: 8:5: in_place is a number for each result of an entry
# expect-error: 11:5: result 0 cannot be written in place of argument -2
# expect-error: 14:5: in_place is a number for each result of an entry
# expect-error: 18:5: result 0 cannot be written in place of argument 1
# expect-error: 18:5: result 1 cannot be written in place of argument 0
# ---- kernel_bodies ----
# Kernels: arrays, lanes, and what passes through a for.
# run: verify
module @bodies {
  kernel @more(%x: &f32, %n: i64) {
    %0 = local {count = 0} : &f32
    %1 = iota : i64<4>
    %2 = shuffle %1, %1 {lanes = [0, 8]} : i64<2>
    %3 = shuffle %1, %1 {lanes = [0, 1]} : i64<4>
    %4 = extract %1, %n : i64<4>
    %5 = scratch {offset = -8} : &f32
    for %n, %n, %n (%i: i64) {
      %6 = local {count = 8} : &f32
      %7, %8 = tiles : i64, i64
      yield
    }
    %9 = for %n, %n, %n, %1 : i64<4> (%i: i64, %s: i64<8>) {
      yield %1
    }
    for %n, %n, %1 (%i: i64) { yield }
    for %n, %n, %n { yield }
    %10 = for %n, %n, %n : i64 (%i: i64) { yield }
    ret
  }
}
# expect-error: 5:10: an array has at least one element
# expect-error: 7:10: a lane beyond both vectors
# expect-error: 8:10: as many lanes as are named
# expect-error: 9:10: result 0 must be a scalar, not i64<4>
# expect-error: 10:10: an offset is not negative
# expect-error: 12:12: this op is allowed at the kernel's top level only
# expect-error: 13:16: this op is allowed at the kernel's top level only
# expect-error: 16:10: carried value 0 changes its type
# expect-error: 19:5: a bound must be one i64, not i64<4>
# expect-error: 20:5: body 0 must have 1 arguments, not 0
# expect-error: 21:11: 0 values carried are not 1 results
# ---- kernels ----
# Kernels: what each op takes and gives.
# run: verify
module @kernels {
  kernel @args(%n: i64, %x: &f32, %y: &f32[4], %z: f32) {
    ret
  }
  kernel @main(%x: &f32, %q: &i8, %n: i64) {
    %0 = load %x, %n : i32
    %1 = load %n, %n : i64
    %2 = load %x, %x : f32
    %3 = iota : i64<4>
    %4 = load_at %x, %3 : f32<8>
    %5 = load_at %x, %4 : f32<8>
    store %3, %x, %n
    %6 = offset %x, %n : &i8
    %7 = reinterpret %3 : f32<4>
    %8 = reinterpret %q : i8
    %9 = splat %3 : i64<8>
    %10 = iota : f32<4>
    %11 = muladd %3, %3, %n : i64<4>
    %12 = hreduce %3 : i32
    ret
  }
}
# expect-error: in 'args': argument 1: a kernel takes buffers, then i64 params
# expect-error: in 'args': argument 2: a kernel takes buffers, then i64 params
# expect-error: in 'args': argument 3: a kernel takes buffers, then i64 params
# expect-error: 8:10: the result is not of the buffer's elements
# expect-error: 9:10: operand 0 must be a buffer, not i64
# expect-error: 10:10: operand 1 must be an i64, not &f32
# expect-error: 12:10: as many lanes as indices
# expect-error: 13:10: operand 1 must be i64s, not f32<8>
# expect-error: 14:5: the value is not of the buffer's elements
# expect-error: 15:10: the result is a buffer of the same elements
# expect-error: 16:10: operand and result have as many bits
# expect-error: 17:10: a buffer stays a buffer
# expect-error: 18:10: operand 0 must be a scalar, not i64<4>
# expect-error: 19:11: iota counts in integers
# expect-error: 20:11: operands and result are of one type
# expect-error: 21:11: operand and result are of one element type
# ---- late_symbol ----
# A buffer whose extent has no value yet cannot be written, nor a view be taken of it.
# run: verify
module @late_symbol {
  plan @main(%x: f32[B], %count: i64[1]) -> (&f32[n]) {
    %0 = alloc : &f32[n]
    compute %x, %0 {family = "copy", outs = 1} (%1: f32[B]) {
      yield %1
    }
    bind %count {symbols = [n]}
    compute %x, %0 {family = "copy", outs = 1} (%2: f32[B]) {
      yield %2
    }
    %3 = view %0 {offset = m, strides = [1]} : &f32[B]
    compute %x, %3 {family = "copy", outs = 1} (%4: f32[B]) {
      yield %4
    }
    ret %0
  }
}
# expect-error: 6:5: 'n' has no value yet
# expect-error: 14:5: 'm' has no value yet
# ---- loops ----
# A loop's arguments, yields and results fit each other.
# run: verify
module @loops {
  graph @main(%n: i64[], %c: bool[], %x: f32[4], %s: seq<f32[4]>) {
    %0 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[]) {
      yield %k, %x
    }
    %1 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[], %y: f32[4]) {
      yield %y
    }
    %2 = loop %n, %c, %x : f32[4] (%i: i64[], %k: bool[], %y: i32[4]) {
      yield %k, %y
    }
    %3 = loop %n, %c, %x {scans = 1} : f32[4] (%i: i64[], %k: bool[], %y: f32[4]) {
      yield %k, %y
    }
    %4 = loop %n, %c {scans = 1} : f32[4] (%i: i64[], %k: bool[]) {
      yield %k, %x
    }
    %5 = loop %n, %c {scans = 1} : f32[T, 4] (%i: f32[], %k: i64[]) {
      yield %c, %x
    }
    loop %c, %n (%i: i64[], %k: bool[]) { yield %k }
    %6 = loop %n, %c, %s : seq<f32[4]> (%i: i64[], %k: bool[], %y: seq<i32[4]>) {
      yield %k, %s
    }
    ret
  }
}
# expect-error: 5:10: body 0 must have 3 arguments, not 2
# expect-error: 8:10: body 0 must yield 2 values, not 1
# expect-error: 11:10: carried value 0 changes its type
# expect-error: 14:10: 1 values carried and 1 scanned are not 1 results
# expect-error: 17:10: result 0 does not stack the yielded value
# expect-error: 20:10: argument 0 must be one i64, not f32[]
# expect-error: 20:10: argument 1 must be one bool, not i64[]
# expect-error: 23:5: the trip count must be one i64, not bool[]
# expect-error: 23:5: the condition must be one bool, not i64[]
# expect-error: 24:10: carried value 0 changes its type
# ---- opened ----
# Opened weights have known extents; what is prepared stands in the graph's own block.
# run: verify
module @opened {
  graph @late(%x: f32[4], %w: f32[N] {opened}) -> (f32[4]) {
    ret %x
  }
  private graph @part(%w: f32[4]) -> (f32[4]) {
    ret %w
  }
  plan @nested(%c: bool[], %w: f32[4] {opened}) {
    if %c {
      prepare {
        yield
      }
      yield
    } else {
      yield
    }
    commit
    prepare {
      yield
    }
    ret
  }
}
# expect-error: in 'late': argument 1 is f32[N], which is not the type of an opened weight
# expect-error: 12:7: weights are prepared in the graph's own block
# expect-error: 20:5: after commit there are only launches
# ---- overlaps ----
# A destination that overlaps an input, or another destination, is an error ...
# run: verify
module @overlaps {
  plan @main(%x: f32[B, 4]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    %1 = view %0 {offset = 0, strides = [8, 1]} : &f32[B, 4]
    %2 = view %0 {offset = 4, strides = [8, 1]} : &f32[B, 4]
    %3 = view %0 {offset = 2, strides = [8, 1]} : &f32[B, 4]
    %4 = view %2 {offset = -4, strides = [8, 1]} : &f32[B, 5]
    launch %x, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %3 {kernel = @copy, outs = 1, grid = 1}
    launch %3, %1 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %3 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %0 {kernel = @copy, outs = 1, grid = 1}
    launch %1, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %2, %4 {kernel = @copy, outs = 1, grid = 1}
    launch %x, %1, %1 {kernel = @two, outs = 2, grid = 1}
    %5 = view %0 {offset = 0, strides = [1, 8]} : &f32[4, B]
    launch %1, %5 {kernel = @copy, outs = 1, grid = 1}
    ret %0
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
  kernel @two(%from: &f32, %to: &f32, %also: &f32) {
    ret
  }
}
# expect-error: 11:5: destination 1 overlaps operand 0
# expect-error: 12:5: destination 1 overlaps operand 0
# expect-error: 13:5: destination 1 overlaps operand 0
# expect-error: 14:5: destination 1 overlaps operand 0
# expect-error: 15:5: destination 1 overlaps operand 0
# expect-error: 16:5: destination 1 overlaps operand 0
# expect-error: 17:5: destination 2 overlaps operand 1
# expect-error: 19:5: destination 1 overlaps operand 0
# ---- ranks ----
# Collectives stand where all ranks come by; parts of a table cover it once.
# run: verify
module @ranks {
  graph @main(%c: bool[], %x: f32[N, 2], %n: i64[2]) {
    %0 = if %c : f32[M, 2] {
      %1, %2 = all_to_all %x, %n {rank = 0} : f32[M, 2], i64[2]
      yield %1
    } else {
      yield %x
    }
    ret
  }
}
# expect-error: 6:16: all_to_all in a body, which not every rank may reach
# ---- regions ----
# A fused region sees its arguments only; they are its operands, its yields its results.
# run: verify
module @regions {
  weight @w : f32[4] = splat(1)
  graph @main(%x: f32[4], %y: f32[5], %z: f32[B]) {
    %0 = fused %x : f32[4] (%a: f32[4]) {
      %1 = add %a, %x
      yield %1
    }
    %2 = fused %x : f32[4] (%a: f32[4]) {
      %3 = add %a, @w
      yield %3
    }
    %4 = fused %x, %y : f32[4] (%a: f32[4]) {
      yield %a
    }
    %5 = fused %x : f32[4] (%a: f32[5]) {
      yield %a
    }
    %6 = fused %z : f32[4] (%a: f32[4]) {
      yield %a
    }
    ret
  }
}
# expect-error: 7:12: operand 1 comes from outside of the fused
# expect-error: 11:12: operand 1 comes from outside of the fused
# expect-error: 14:10: body 0 must have 2 arguments, not 1
# expect-error: 17:10: argument 0 does not fit operand 0
# expect-error: 17:10: yielded value 0 is f32[5], not f32[4]
# ---- shards ----
# Parts of a table cover it once, on ranks that there are; counts are one a rank.
# run: infer
module @shards {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%x: f32[N, 2], %n: i64[2], %m: i64[3], %k: f32[N, M], %i: i64[N]) {
    %0 = shard @a {world = 2, rank = 2}
    %1 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 1, 0, 2]}
    %2 = shard @a {world = 2, rank = 0, parts = [0, 0, 3, 0, 2, 1, 2, 2, 0, 2]}
    %3 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0, 3]}
    %4 = shard @a {world = 2, rank = 0, parts = [2, 0, 4, 0, 2]}
    %5 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0]}
    %6 = shard %x {world = 2, rank = 0}
    %7, %8, %9, %10 = all_to_all %x, %n, %x, %m {rank = 0}
    %11 = reduce_scatter %i, %n {rank = 0}
    %12, %13 = all_to_all %k, %n {rank = 0}
    %14, %15, %16, %17, %18 = deal %i, %i {world = 2, starts = [1], ranks = [0], bases = [0]}
    %19, %20 = bag_ids %i, %i, %x {operands = 5, rows = 4}
    %21, %22 = all_to_all %x, %n {rank = 2}
    %23 = meet_counts %n, %m {rank = 0}
    %24, %25 = meet_lists %x, %x, %n, %n, %n {rank = 1}
    %26, %27 = meet_lists %x, %x, %n, %n, %x, %n {rank = 1}
    %28 = shard @a {world = 2, rank = 0, wire = u8}
    %29 = shard @a {world = 2, rank = 0, chunks = 17}
    %30, %31, %32 = all_to_all %x, %n, %x {rank = 0}
    %33, %34 = all_to_all %x, %n, %x, %n {rank = 0, known}
    ret
  }
}
# expect-error: 6:10: there is no rank 2 in a world of 2
# expect-error: 7:10: 2 of the table's elements are in no part
# expect-error: 8:10: parts 0 and 1 have elements in common
# expect-error: 9:10: part 0 is not inside of 4 rows of 2
# expect-error: 10:10: part 0: there is no rank 2 among 2
# expect-error: 11:10: 'parts' has 4 numbers, expected 5 for each of at most 4096 parts
# expect-error: 12:10: operand 0 is f32[N, 2], expected a weight or table [rows, dim]
# expect-error: 13:23: operand 3 is i64[3], expected one count for each rank
# expect-error: 14:11: operand 0 is i64[N], expected floating-point elements
# expect-error: 15:16: operand 0 is f32[N, M], expected only its first extent to differ from rank to rank
# expect-error: 16:31: shard 0: rows from 1 on cannot be at rank 0
# expect-error: 17:16: it needs 3 operands and 3 results, not 3 and 2
# expect-error: 18:16: there is no rank 2 in a world of 2
# expect-error: 19:11: operand 1 is i64[3], expected one count for each rank
# expect-error: 20:16: operand 4 is i64[2], expected the result of meet_counts
# expect-error: 21:16: operand 4 is f32[N, 2], expected rank 1
# expect-error: 22:11: rows cannot travel as 'u8'
# expect-error: 23:11: the batch cannot travel in 17 chunks, expected 1 to 16
# expect-error: 24:21: 3 operands are not pairs
# expect-error: 25:16: 4 operands are not triples
# ---- shards_started ----
# What is started is waited for with what starting it gave, and ends with all of its lists.
# run: infer
module @shards {
  graph @main(%x: f32[N, 2], %n: i64[2], %m: i64[3]) {
    %35, %36 = all_to_all %x, %n, %m {rank = 0, known}
    %37 = meet_start %x, %n {rank = 0}
    %38 = meet_start %x, %n, %n {rank = 0}
    %39 = meet_start %x, %n {rank = 3}
    %40 = reduce_scatter %x, %n, %n {rank = 0}
    %41 = reduce_scatter %x, %n, %37 {rank = 0}
    meet_end %n, %x
    meet_end %37, %x, %x
    ret
  }
}
# expect-error: 5:16: operand 2 is i64[3], expected one count for each rank
# expect-error: 7:11: operand 2 is i64[2], expected the result of meet_counts
# expect-error: 8:11: there is no rank 3 in a world of 2
# expect-error: 9:11: operand 2 is i64[2], expected the result of meet_start
# expect-error: 11:5: operand 0 is i64[2], expected the result of meet_start
# expect-error: 12:5: 3 operands, expected the 1 lists that were started
# ---- signatures ----
# A signature has a leaf for each argument and result; a state begins with a weight.
# run: verify
module @wrong {
  weight @n : i64[] = 0
  weight @r : f32[2] = [0, 1]
  graph @few(%x: f32[3], %y: f32[3]) as f(x: tensor) -> tensor {
    ret %x
  }
  graph @many(%x: f32[3]) as f(x: tensor) -> (tensor, int) {
    ret %x
  }
  graph @nothing(%n: i64[] = @m) {
    ret %n
  }
  graph @other(%n: i64[3] = @r) {
    ret %n
  }
  graph @gone(%n: i64[] = @n) {
    ret
  }
}
# expect-error: in 'few': the signature has 1 leaves, the graph 2 arguments
# expect-error: in 'many': the signature's result has 2 leaves, the graph 1 results
# expect-error: in 'nothing': state 0 begins with @m, which does not exist
# expect-error: in 'other': state @r is i64[3] before
# expect-error: in 'other': state @r is i64[3] behind
# expect-error: in 'gone': 1 states, but fewer arguments or results
# ---- stages ----
# Ops and types stand at their stages; what a compute computes is said in tensors.
# run: verify
module @stages {
  graph @tensor(%b: &f32[4], %v: f32<4>) {
    %0 = alloc : &f32[4]
    %1 = iota : i64<4>
    barrier
    ret
  }
  plan @plan(%x: f32[4], %v: f32) {
    %0 = relu %x
    %1 = alloc : &f32[4]
    compute %x, %1 {family = "map", outs = 1} (%a: f32[4]) {
      %2 = relu %a
      yield %2
    }
    ret %1
  }
  kernel @kernel(%x: &f32) {
    %0 = seq_empty {of = f32} : seq<f32[4]>
    guard eq(N, 4)
    ret
  }
}
# expect-error: in 'tensor': argument 0 has no type of this stage
# expect-error: in 'tensor': argument 1 has no type of this stage
# expect-error: 5:10: alloc is not allowed at this stage
# expect-error: 5:10: a value of type &f32[4] is not allowed at this stage
# expect-error: 6:10: iota is not allowed at this stage
# expect-error: 6:10: a value of type i64<4> is not allowed at this stage
# expect-error: 7:5: barrier is not allowed at this stage
# expect-error: in 'plan': argument 1 has no type of this stage
# expect-error: 11:10: relu is not allowed at this stage
# expect-error: 20:10: seq_empty is not allowed at this stage
# expect-error: 20:10: a value of type seq<f32[4]> is not allowed at this stage
# expect-error: 21:5: guard is not allowed at this stage
# ---- unused ----
# A buffer that nothing uses is a mistake.
# run: verify
module @unused {
  plan @main() {
    %0 = alloc : &f32[4]
    ret
  }
}
# expect-error: 5:10: nothing uses this buffer
# ---- whole_collectives ----
# Collectives of whole tensors: a result for each operand, floats are summed, axes are joined.
# run: infer
module @whole {
  graph @main(%x: f32[N, 2], %i: i64[N], %s: f32[]) {
    %0 = all_reduce %x, %s {world = 4}
    %1, %2 = all_gather %x, %i {world = 4}
    %3 = all_reduce %i {world = 4}
    %4 = all_gather %s {world = 4}
    %5 = all_reduce %x {world = 0}
    %6 = all_gather %x {world = 65537}
    ret
  }
}
# expect-error: 5:10: it needs a result for each of 2 operands, not 1
# expect-error: 7:10: operand 0 is i64[N], expected floating-point elements
# expect-error: 8:10: operand 0 is f32[], expected rank 1 or more
# expect-error: 9:10: a world of 0 ranks is not possible, expected 1 to 65536
# expect-error: 10:10: a world of 65537 ranks is not possible, expected 1 to 65536
