# ---- error_bufferise ----
# bufferise: what cannot be compiled yet says so, with what to do.
# run: fuse,bufferise
module @m {
  graph @main(%x: f32[B]) -> (seq<f32[B]> "o") {
    %0 = seq_make %x : seq<f32[B]>
    ret %0
  }
}
# expect-error: 'seq_make' cannot be compiled yet
# ---- error_group ----
# A group that does not end.
# run: (dce
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pipeline "(dce", at "": a group ends in ")*"
# ---- error_guards ----
# guards: a guard of the graph's own block that never holds is an error.
# run: guards
module @m {
  graph @main(%x: f32[B]) -> () {
    guard eq(2*B, 2*B + 1) "batch and ids disagree"
    ret
  }
}
# expect-error: 5:5: batch and ids disagree: 2*B = 2*B + 1 never holds
# ---- error_infer ----
# infer: operands that turn out not to fit are an error.
# run: infer
module @m {
  graph @main(%x: f32[4], %y: f32[5]) -> (f32[A]) {
    %0 = relu %x : f32[A]
    %1 = relu %y : f32[B]
    %2 = add %0, %1 : f32[A]
    ret %2
  }
}
# expect-error: 7:10: operand 1 is f32[5], which does not broadcast with f32[4]
# ---- error_learnt ----
# canonicalise: what is learnt of a symbol breaks the guard that an op before it relied on.
# run: canonicalise
module @m {
  graph @main(%x: f32[2, 3]) -> (f32[6]) {
    %0 = dims {values = [2, 3]} : i64[2]
    %1 = expand %x, %0 : f32[n, 3]
    guard eq(3*n, 9) "the tensor does not have as many elements as its new shape"
    %2 = reshape %1 {to = [9]} : f32[9]
    %3 = slice %2 {starts = [0], sizes = [6]} : f32[6]
    ret %3
  }
}
# expect-error: the tensor does not have as many elements as its new shape: 6 = 9 never holds
# ---- error_learnt_operands ----
# unify: what a guard tells of an extent does not fit another op.
# run: unify
module @m {
  graph @main(%q: f32[2, L, 8], %k: f32[2, 6, 8], %mask: f32[4, 6]) -> (f32[2, L, 8]) {
    guard eq(6, L) "a value for each key"
    %0 = attention %q, %k, %q, %mask {scale = 1} : f32[2, L, 8]
    ret %0
  }
}
# expect-error: operand 3 is f32[4, 6], expected its extent 0 to equal 6, that of the scores
# ---- error_pipeline ----
# A pass that does not exist.
# run: nonsense
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pipeline "nonsense", at "nonsense": no such pass
# ---- error_resolve_shapes ----
# resolve_shapes: an extent that nothing gives a value is said.
# run: resolve_shapes
module @m {
  graph @main(%x: seq<f32[n]>, %i: i64[]) -> (f32[n] "o") {
    %0 = seq_at %x, %i : f32[n]
    ret %0
  }
}
# expect-error: 'seq_at' cannot be compiled yet where the size of its result depends on data
# ---- error_sequence_input ----
# bufferise: programs take tensors, so a sequence is not taken for one.
# run: fuse,bufferise
module @m {
  graph @main(%x: seq<f32[B]>) -> (seq<f32[B]> "o") {
    ret %x
  }
}
# expect-error: inputs that are sequences cannot be compiled yet
# ---- error_shard ----
# shard: a divided table that another op reads as a whole.
# run: shard
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N]) -> (f32[N, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2]}
    %1 = gather %0, %ids {axis = 0}
    ret %1
  }
}
# expect-error: it reads all of table 'a', of which a rank has a part
# ---- error_shard_body ----
# shard: a divided table that is looked up where the ranks may not meet.
# run: shard
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %c: bool[]) -> (f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2]}
    %1 = if %c : f32[B, 2] {
      %2 = bag %0, %ids, %off {operands = [1], pool = [sum]}
      yield %2
    } else {
      %3 = bag @a, %ids, %off {operands = [1], pool = [sum]}
      yield %3
    }
    ret %1
  }
}
# expect-error: a divided table is looked up in the body of 'if'
# ---- error_shard_cut ----
# shard: columns that no whole byte begins with.
# run: shard
module @m {
  table @q : u4<rowwise f16>[1, 4] = inline(0x003c00001032)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = shard @q {world = 2, rank = 1, parts = [0, 0, 1, 0, 1, 1, 0, 1, 1, 3]}
    %1 = bag %0, %ids, %off {operands = [1], pool = [sum]}
    ret %1
  }
}
# expect-error: table 'q' cannot be cut at column 1
# ---- error_stage ----
# A pass that runs at another stage.
# run: lower
module @m {
  graph @main() -> () {
    ret
  }
}
# expect-error: pass lower runs on no graph of this module: they are at another stage
# ---- error_tables ----
# infer: tables whose rows are one list have rows of one kind.
# run: infer
module @m {
  weight @a : f32[8, 4] = splat(1)
  weight @b : f32[8, 5] = splat(1)
  graph @main(%i: i64[N], %o: i64[B]) -> (f32[B, 4]) {
    %0 = bag @a, @b, %i, %o {operands = [1], pool = [sum], tables = [2], negative = skip}
    ret %0
  }
}
# expect-error: 7:10: operand 1 is f32[8, 5], expected rows like those of f32[8, 4]
# ---- error_unify ----
# unify: guards that contradict each other are told by their words.
# run: unify
module @m {
  graph @main(%x: f32[2, C], %s: f32[2], %m: f32[3]) -> (f32[2, C]) {
    guard eq(2, C) "one scale per channel"
    guard eq(3, C) "one mean per channel"
    %0 = relu %x : f32[2, C]
    ret %0
  }
}
# expect-error: one mean per channel: 3 = 2 never holds
# ---- error_zero_point ----
# A zero point has the elements that it is taken from.
# run: infer
module @m {
  graph @main(%x: u8[A, 4], %s: f32[], %z: i8[]) -> (f32[A, 4]) {
    %0 = dequantize %x, %s, %z : f32[A, 4]
    ret %0
  }
}
# expect-error: the zero point is i8[], expected elements of type u8
