# ---- resolve_overlap ----
# resolve_shapes: exchanges that overlap begin where they stand, and are waited for in front of the first op that needs what comes; all end at the end. What is known to come is not asked for.
# run: resolve_shapes
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  graph @main(%l: i64[N], %x: f32[M, 2], %c: i64[2], %d: i64[2]) -> (i64[came], f32[came2, 2], f32[M, 2], f32[came3, 2], i64[2]) {
    %0, %1 = all_to_all %l, %c {rank = 1, of = 77, overlaps} : i64[came], i64[2]
    %2 = relu %x : f32[M, 2]
    %3 = reduce_scatter %2, %c {rank = 1, overlaps} : f32[came2, 2]
    %4 = neg %0 : i64[came]
    %5, %6 = all_to_all %x, %d, %1 {rank = 1, overlaps, known} : f32[came3, 2], i64[2]
    %7 = neg %3 : f32[came2, 2]
    ret %4, %7, %2, %5, %6
  }
}
# expect:
module @m {
  symbol came {origin = "an extent that the model computes"}
  symbol came2 {origin = "an extent that the model computes"}
  symbol came3 {origin = "an extent that the model computes"}
  graph @main(%l: i64[N], %x: f32[M, 2], %c: i64[2], %d: i64[2]) -> (i64[came], f32[came2, 2], f32[M, 2], f32[came3, 2], i64[2]) {
    %0 = meet_counts %c {rank = 1, of = 77} : i64[5]
    %1 = slice %0 {starts = [0], sizes = [1]} : i64[1]
    bind %1 {symbols = [came]}
    %2 = slice %0 {starts = [1], sizes = [2]} : i64[2]
    %3 = meet_start %l, %c, %0 {rank = 1} : i64[1]
    %4 = relu %x : f32[M, 2]
    %5 = slice %c {starts = [1], sizes = [1]} : i64[1]
    bind %5 {symbols = [came2]}
    %6 = meet_start %4, %c {rank = 1} : i64[1]
    %7 = meet_lists %l, %c, %0, %3 {rank = 1} : i64[came]
    %8 = neg %7 : i64[came]
    %9 = reduce %2 {axes = [0], keep} : i64[1]
    %10 = const {value = 0} : i64[]
    %11 = expand %10 {to = [2]} : i64[2]
    %12 = concat %9, %2, %11 {axis = 0} : i64[5]
    %13 = slice %12 {starts = [0], sizes = [1]} : i64[1]
    bind %13 {symbols = [came3]}
    %14 = slice %12 {starts = [1], sizes = [2]} : i64[2]
    %15 = meet_start %x, %d, %12 {rank = 1} : i64[1]
    %16 = reduce_scatter %4, %c, %6 {rank = 1} : f32[came2, 2]
    %17 = neg %16 : f32[came2, 2]
    %18 = meet_lists %x, %d, %12, %15 {rank = 1} : f32[came3, 2]
    meet_end %3, %l
    meet_end %6, %4
    meet_end %15, %x
    ret %8, %17, %4, %18, %14
  }
}
# ---- resolve_ranks ----
# resolve_shapes: an all_to_all asks first how much comes; ids that a bag has, and those that go anywhere, are counted.
# run: resolve_shapes
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  graph @main(%ids: i32[N], %off: i64[B], %c: i64[2]) -> (i64[came], i64[2], f32[came2, 1]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 5} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [1, 0], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10 = all_to_all %2, %3, %4, %5 {rank = 1, of = 77} : i64[came3], i64[2], i64[came], i64[2]
    %11 = cast %9 {to = f32} : f32[came]
    %12 = reshape %11 {to = [came, 1]} : f32[came, 1]
    %13 = reduce_scatter %12, %c {rank = 1} : f32[came2, 1]
    ret %9, %10, %13
  }
}
# expect:
module @m {
  symbol came {origin = "an extent that the model computes"}
  symbol came2 {origin = "an extent that the model computes"}
  symbol ids {origin = "an extent that the model computes"}
  symbol dealt {origin = "an extent that the model computes"}
  symbol came3 {origin = "an extent that the model computes"}
  graph @main(%ids: i32[N], %off: i64[B], %c: i64[2]) -> (i64[came], i64[2], f32[came2, 1]) {
    %0 = cast %ids {to = i64} : i64[N]
    %1 = measure %0, %off {function = "rank_bag_ids_count", params = [1, 0, 0, 0, 0, 0, 5, 0, 0, 0, N, B, 0, 0]} : i64[1]
    bind %1 {symbols = [ids]}
    %2, %3 = bag_ids %0, %off {operands = 1, rows = 5} : i64[B], i64[ids]
    %4 = measure %3 {function = "rank_deal_count", params = [0, ids, 0]} : i64[1]
    bind %4 {symbols = [dealt]}
    %5, %6, %7, %8, %9 = deal %2, %3 {world = 2, starts = [0, 2], ranks = [1, 0], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %10 = meet_counts %6, %8 {rank = 1, of = 77} : i64[8]
    %11 = slice %10 {starts = [0], sizes = [2]} : i64[2]
    bind %11 {symbols = [came3, came]}
    %12 = slice %10 {starts = [2], sizes = [2]} : i64[2]
    %13 = slice %10 {starts = [4], sizes = [2]} : i64[2]
    %14, %15 = meet_lists %5, %7, %6, %8, %10 {rank = 1} : i64[came3], i64[came]
    %16 = cast %15 {to = f32} : f32[came]
    %17 = reshape %16 {to = [came, 1]} : f32[came, 1]
    %18 = slice %c {starts = [1], sizes = [1]} : i64[1]
    bind %18 {symbols = [came2]}
    %19 = reduce_scatter %17, %c {rank = 1} : f32[came2, 1]
    ret %15, %13, %19
  }
}
# ---- roles ----
# roles: rows, offsets, lengths key by key and what all share, through casts, parts and views.
# run: roles
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @offsets(%x: f32[B, 4], %ids: i32[N], %off: i32[B], %w: f32[N], %scale: f32[4]) -> (f32[B, 2, 4]) {
    %0 = cast %ids {to = i64} : i64[N]
    %1 = cast %off {to = i64} : i64[B]
    %2 = bag @t, %0, %1, %w {operands = [5], pool = [sum]} : f32[B, 4]
    %3 = mul %x, %scale : f32[B, 4]
    %4 = concat %3, %2 {axis = 1} : f32[B, 8]
    %5 = reshape %4 {to = [B, 2, 4]} : f32[B, 2, 4]
    ret %5
  }
  graph @lengths(%x: f32[B, 4], %v: i64[V], %l: i64[2*B]) -> (f32[B, 12], f32[3]) {
    %0 = const {value = [1, 2, 3]} : f32[3]
    %1 = cumsum %l {axis = 0, complete, rising} : i64[2*B + 1]
    %2 = slice %1 {starts = [0], sizes = [B + 1]} : i64[B + 1]
    %3 = slice %1 {starts = [B], sizes = [B]} : i64[B]
    %4, %5 = bag @t, %v, %2, @t, %v, %3 {operands = [1, 1], pool = [sum, sum], last = [offset, ids]}
    %6 = concat %x, %4, %5 {axis = 1} : f32[B, 12]
    ret %6, %0
  }
  graph @columns(%x: f32[B, 4], %ids: i64[B, 3]) -> (f32[B]) {
    %0 = bag @t, %ids {operands = [0], pool = [mean]} : f32[B, 4]
    %1 = softmax %0 {axis = 1} : f32[B, 4]
    %2 = mul %x, %1 : f32[B, 4]
    %3 = reduce %2 {axes = [1], op = sum} : f32[B]
    ret %3
  }
  graph @kjt(%v: i64[V], %l: i64[L]) -> (f32[exact(L / 2), 8]) {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[L + 1]
    %1 = slice %0 {starts = [0], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %2 = slice %0 {starts = [exact(L / 2)], sizes = [exact(L / 2)]} : i64[exact(L / 2)]
    %3, %4 = bag @t, %v, %1, @t, %v, %2 {operands = [1, 1], pool = [sum, sum], last = [offset, ids]}
    %5 = concat %3, %4 {axis = 1} : f32[exact(L / 2), 8]
    ret %5
  }
  graph @attends(%q: f32[B, 2, 4], %k: f32[B, 3, 4], %m: f32[2, 3]) -> (f32[B, 2, 4]) {
    %0 = attention %q, %k, %k, %m {scale = 1} : f32[B, 2, 4]
    %1 = cumsum %0 {axis = 2} : f32[B, 2, 4]
    ret %1
  }
}
# expect:
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @offsets(
      %x: f32[B, 4],
      %ids: i32[N],
      %off: i32[B],
      %w: f32[N],
      %scale: f32[4]) -> (f32[B, 2, 4]) {
    %0 = cast %ids {to = i64} : i64[N]
    %1 = cast %off {to = i64} : i64[B]
    %2 = bag @t, %0, %1, %w {operands = [5], pool = [sum]} : f32[B, 4]
    %3 = mul %x, %scale : f32[B, 4]
    %4 = concat %3, %2 {axis = 1} : f32[B, 8]
    %5 = reshape %4 {to = [B, 2, 4]} : f32[B, 2, 4]
    ret %5 {roles = [rows, key_values, offsets, key_values, shared, rows], partners = [-1, 2, 1, 2, -1, -1]}
  }
  graph @lengths(%x: f32[B, 4], %v: i64[V], %l: i64[2*B]) -> (f32[B, 12], f32[3]) {
    %0 = const {value = [1, 2, 3]} : f32[3]
    %1 = cumsum %l {axis = 0, complete, rising} : i64[2*B + 1]
    %2 = slice %1 {starts = [0], sizes = [B + 1]} : i64[B + 1]
    %3 = slice %1 {starts = [B], sizes = [B]} : i64[B]
    %4, %5 = bag @t, %v, %2, @t, %v, %3 {operands = [1, 1], pool = [sum, sum], last = [offset, ids]} : f32[B, 4], f32[B, 4]
    %6 = concat %x, %4, %5 {axis = 1} : f32[B, 12]
    ret %6, %0 {roles = [rows, key_values, key_lengths, rows, shared], partners = [-1, 2, 1, -1, -1]}
  }
  graph @columns(%x: f32[B, 4], %ids: i64[B, 3]) -> (f32[B]) {
    %0 = bag @t, %ids {operands = [0], pool = [mean]} : f32[B, 4]
    %1 = softmax %0 {axis = 1} : f32[B, 4]
    %2 = mul %x, %1 : f32[B, 4]
    %3 = reduce %2 {op = sum, axes = [1]} : f32[B]
    ret %3 {roles = [rows, rows, rows], partners = [-1, -1, -1]}
  }
  graph @kjt(%v: i64[V], %l: i64[L]) -> (f32[exact(L / 2), 8]) {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[L + 1]
    %1 = slice %0 {starts = [0], sizes = [exact(L / 2) + 1]} : i64[exact(L / 2) + 1]
    %2 = slice %0 {starts = [exact(L / 2)], sizes = [exact(L / 2)]} : i64[exact(L / 2)]
    %3, %4 = bag @t, %v, %1, @t, %v, %2 {operands = [1, 1], pool = [sum, sum], last = [offset, ids]} : f32[exact(L / 2), 4], f32[exact(L / 2), 4]
    %5 = concat %3, %4 {axis = 1} : f32[exact(L / 2), 8]
    ret %5 {roles = [key_values, key_lengths, rows], partners = [1, 0, -1]}
  }
  graph @attends(%q: f32[B, 2, 4], %k: f32[B, 3, 4], %m: f32[2, 3]) -> (f32[B, 2, 4]) {
    %0 = attention %q, %k, %k, %m {scale = 1} : f32[B, 2, 4]
    %1 = cumsum %0 {axis = 2} : f32[B, 2, 4]
    ret %1 {roles = [rows, rows, shared, rows], partners = [-1, -1, -1, -1]}
  }
}
# ---- roles_none ----
# roles: whatever mixes rows, or looks at how many there are, leaves a graph without roles.
# run: roles
# not run: roles are marks; an extent of @lengths_alone has no input
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @softmax(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = softmax %x {axis = 0} : f32[B, 4]
    ret %0
  }
  graph @mean(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = reduce %x {axes = [0], op = mean, keep} : f32[1, 4]
    %1 = sub %x, %0 : f32[B, 4]
    ret %1
  }
  graph @count(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = dims {values = [B], scalar} : i64[]
    %1 = cast %0 {to = f32} : f32[]
    %2 = div %x, %1 : f32[B, 4]
    ret %2
  }
  graph @position(%x: i64[B]) -> (i64[B]) {
    %0 = const {value = 0} : i64[]
    %1 = dims {values = [B], scalar} : i64[]
    %2 = const {value = 1} : i64[]
    %3 = range %0, %1, %2 : i64[B]
    %4 = add %x, %3 : i64[B]
    ret %4
  }
  graph @again(%x: i64[B], %ids: i64[N], %off: i64[B]) -> (f32[B, 4], i64[B]) {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 4]
    %1 = add %x, %off : i64[B]
    ret %0, %1
  }
  graph @others(%x: i64[B], %ids: i64[N], %off: i64[B], %more: i64[N], %off2: i64[B]) -> (f32[B, 4], f32[B, 4]) {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 4]
    %1 = bag @t, %ids, %off2 {operands = [1], pool = [sum]} : f32[B, 4]
    ret %0, %1
  }
  graph @turned(%x: f32[4, B]) -> (f32[B, 4]) {
    %0 = transpose %x {perm = [1, 0]} : f32[B, 4]
    ret %0
  }
  graph @square(%x: f32[B, 4]) -> (f32[B, B]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, B]
    ret %0
  }
  graph @others_keys(%q: f32[B, 2, 4], %k: f32[2, 2, 4]) -> (f32[B, 2, 4]) {
    %0 = expand %q {to = [B, 2, 4]} : f32[B, 2, 4]
    %1 = slice %0 {starts = [0, 0, 0], sizes = [1, 2, 4]} : f32[1, 2, 4]
    %2 = attention %q, %1, %1 {scale = 1} : f32[B, 2, 4]
    ret %2
  }
  graph @lengths_alone(%v: i64[V], %l: i64[L]) -> (f32[M, 4]) {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[L + 1]
    %1 = slice %0 {starts = [0], sizes = [M]} : i64[M]
    %2 = bag @t, %v, %1 {operands = [1], pool = [sum]} : f32[M, 4]
    ret %2
  }
  graph @sums(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = cumsum %x {axis = 0} : f32[B, 4]
    ret %0
  }
}
# expect:
module @m {
  weight @t : f32[8, 4] = splat(1)
  graph @softmax(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = softmax %x {axis = 0} : f32[B, 4]
    ret %0
  }
  graph @mean(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = reduce %x {op = mean, axes = [0], keep} : f32[1, 4]
    %1 = sub %x, %0 : f32[B, 4]
    ret %1
  }
  graph @count(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = dims {values = [B], scalar} : i64[]
    %1 = cast %0 {to = f32} : f32[]
    %2 = div %x, %1 : f32[B, 4]
    ret %2
  }
  graph @position(%x: i64[B]) -> (i64[B]) {
    %0 = const {value = 0} : i64[]
    %1 = dims {values = [B], scalar} : i64[]
    %2 = const {value = 1} : i64[]
    %3 = range %0, %1, %2 : i64[B]
    %4 = add %x, %3 : i64[B]
    ret %4
  }
  graph @again(%x: i64[B], %ids: i64[N], %off: i64[B]) -> (f32[B, 4], i64[B]) {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 4]
    %1 = add %x, %off : i64[B]
    ret %0, %1
  }
  graph @others(
      %x: i64[B],
      %ids: i64[N],
      %off: i64[B],
      %more: i64[N],
      %off2: i64[B]) -> (f32[B, 4], f32[B, 4]) {
    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 4]
    %1 = bag @t, %ids, %off2 {operands = [1], pool = [sum]} : f32[B, 4]
    ret %0, %1
  }
  graph @turned(%x: f32[4, B]) -> (f32[B, 4]) {
    %0 = transpose %x {perm = [1, 0]} : f32[B, 4]
    ret %0
  }
  graph @square(%x: f32[B, 4]) -> (f32[B, B]) {
    %0 = matmul %x, %x {transpose_b} : f32[B, B]
    ret %0
  }
  graph @others_keys(%q: f32[B, 2, 4], %k: f32[2, 2, 4]) -> (f32[B, 2, 4]) {
    %0 = expand %q {to = [B, 2, 4]} : f32[B, 2, 4]
    %1 = slice %0 {starts = [0, 0, 0], sizes = [1, 2, 4]} : f32[1, 2, 4]
    %2 = attention %q, %1, %1 {scale = 1} : f32[B, 2, 4]
    ret %2
  }
  graph @lengths_alone(%v: i64[V], %l: i64[L]) -> (f32[M, 4]) {
    %0 = cumsum %l {axis = 0, complete, rising} : i64[L + 1]
    %1 = slice %0 {starts = [0], sizes = [M]} : i64[M]
    %2 = bag @t, %v, %1 {operands = [1], pool = [sum]} : f32[M, 4]
    ret %2
  }
  graph @sums(%x: f32[B, 4]) -> (f32[B, 4]) {
    %0 = cumsum %x {axis = 0} : f32[B, 4]
    ret %0
  }
}
# ---- shard_chunks ----
# shard: the batch in two chunks; ids travel at once, rows of a chunk while the other is computed with; what is needed whole is put together.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_chunks runs them)
module @m {
  weight @a : f32[4, 8] = splat(2)
  weight @w : f32[16, 4] = splat(0.5)
  weight @v : f32[13, 8] = splat(0.25)
  graph @main(%x: f32[B, 13], %ids: i64[N], %off: i64[B], %ids2: i64[B, 3]) -> (f32[B, 4], f32[4]) {
    %0 = shard @a {world = 2, rank = 1, chunks = 2, parts = [0, 0, 3, 0, 8, 1, 3, 1, 0, 8]}
    %1 = matmul %x, @v
    %2 = relu %1
    %3, %4 = bag %0, %ids, %off, %0, %ids2 {operands = [1, 0], pool = [sum, max], negative = skip}
    %5 = add %3, %4
    %6 = concat %2, %5 {axis = 1}
    %7 = matmul %6, @w
    %8 = reduce %7 {axes = [0]}
    ret %7, %8
  }
}
# expect:
module @m {
  weight @a : f32[4, 8] = splat(2)
  weight @w : f32[16, 4] = splat(0.5)
  weight @v : f32[13, 8] = splat(0.25)
  weight @a.0 : f32[1, 8] = splat(2)
  graph @main(%x: f32[B, 13], %ids: i64[N], %off: i64[B], %ids2: i64[B, 3]) -> (f32[B, 4], f32[4]) {
    %0 = dims {values = [N]} : i64[1]
    %1 = concat %off, %0 {axis = 0} : i64[B + 1]
    %2 = slice %1 {starts = [0], sizes = [floor(B / 2) + 1]} : i64[floor(B / 2) + 1]
    %3 = slice %ids2 {starts = [0, 0], sizes = [floor(B / 2), 3]} : i64[floor(B / 2), 3]
    %4 = slice %1 {starts = [floor(B / 2)], sizes = [B - floor(B / 2) + 1]} : i64[B - floor(B / 2) + 1]
    %5 = slice %ids2 {starts = [floor(B / 2), 0], sizes = [B - floor(B / 2), 3]} : i64[B - floor(B / 2), 3]
    %6, %7 = bag_ids %ids, %2 {operands = 1, rows = 4, last = offset, negative = skip} : i64[floor(B / 2)], i64[ids]
    %8, %9, %10, %11, %12 = deal %6, %7 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*floor(B / 2)], i64[2], i64[dealt], i64[2], i64[ids]
    %13, %14 = bag_ids %3 {operands = 0, rows = 4, feature = 1, pool = max, negative = skip} : i64[floor(B / 2)], i64[ids2]
    %15, %16, %17, %18, %19 = deal %13, %14 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*floor(B / 2)], i64[2], i64[dealt2], i64[2], i64[ids2]
    %20, %21 = bag_ids %ids, %4 {operands = 1, rows = 4, last = offset, negative = skip} : i64[B - floor(B / 2)], i64[ids3]
    %22, %23, %24, %25, %26 = deal %20, %21 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*B - 2*floor(B / 2)], i64[2], i64[dealt3], i64[2], i64[ids3]
    %27, %28 = bag_ids %5 {operands = 0, rows = 4, feature = 1, pool = max, negative = skip} : i64[B - floor(B / 2)], i64[ids4]
    %29, %30, %31, %32, %33 = deal %27, %28 {world = 2, starts = [0, 3], ranks = [0, 1], bases = [0, 0]} : i64[2*B - 2*floor(B / 2)], i64[2], i64[dealt4], i64[2], i64[ids4]
    %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49 = all_to_all %8, %9, %10, %11, %15, %16, %17, %18, %22, %23, %24, %25, %29, %30, %31, %32 {rank = 1, overlaps} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2], i64[came5], i64[2], i64[came6], i64[2], i64[came7], i64[2], i64[came8], i64[2]
    %50 = matmul %x, @v : f32[B, 8]
    %51 = relu %50 : f32[B, 8]
    %52 = cumsum %34 {axis = 0, complete} : i64[came + 1]
    %53 = bag @a.0, %36, %52 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 8]
    %54 = cumsum %38 {axis = 0, complete} : i64[came3 + 1]
    %55 = bag @a.0, %40, %54 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came3, 8]
    %56 = reduce_scatter %53, %35 {rank = 1, overlaps} : f32[came9, 8]
    %57, %58 = all_to_all %55, %39, %16 {rank = 1, overlaps, known} : f32[came10, 8], i64[2]
    %59 = cumsum %42 {axis = 0, complete} : i64[came5 + 1]
    %60 = bag @a.0, %44, %59 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came5, 8]
    %61 = cumsum %46 {axis = 0, complete} : i64[came7 + 1]
    %62 = bag @a.0, %48, %61 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came7, 8]
    %63 = reduce_scatter %60, %43 {rank = 1, overlaps} : f32[came11, 8]
    %64, %65 = all_to_all %62, %47, %30 {rank = 1, overlaps, known} : f32[came12, 8], i64[2]
    %66 = reshape %56 {to = [floor(B / 2), 8]} : f32[floor(B / 2), 8]
    %67 = reshape %57 {to = [2, floor(B / 2), 8]} : f32[2, floor(B / 2), 8]
    %68 = reduce %67 {op = max, axes = [0]} : f32[floor(B / 2), 8]
    %69 = const {value = 0} : i64[]
    %70 = eq %13, %69 : bool[floor(B / 2)]
    %71 = const {value = 0} : f32[]
    %72 = reshape %70 {to = [floor(B / 2), 1]} : bool[floor(B / 2), 1]
    %73 = where %72, %71, %68 : f32[floor(B / 2), 8]
    %74 = add %66, %73 : f32[floor(B / 2), 8]
    %75 = slice %51 {starts = [0, 0], sizes = [floor(B / 2), 8]} : f32[floor(B / 2), 8]
    %76 = concat %75, %74 {axis = 1} : f32[floor(B / 2), 16]
    %77 = matmul %76, @w : f32[floor(B / 2), 4]
    %78 = reshape %63 {to = [B - floor(B / 2), 8]} : f32[B - floor(B / 2), 8]
    %79 = reshape %64 {to = [2, B - floor(B / 2), 8]} : f32[2, B - floor(B / 2), 8]
    %80 = reduce %79 {op = max, axes = [0]} : f32[B - floor(B / 2), 8]
    %81 = const {value = 0} : i64[]
    %82 = eq %27, %81 : bool[B - floor(B / 2)]
    %83 = const {value = 0} : f32[]
    %84 = reshape %82 {to = [B - floor(B / 2), 1]} : bool[B - floor(B / 2), 1]
    %85 = where %84, %83, %80 : f32[B - floor(B / 2), 8]
    %86 = add %78, %85 : f32[B - floor(B / 2), 8]
    %87 = slice %51 {starts = [floor(B / 2), 0], sizes = [B - floor(B / 2), 8]} : f32[B - floor(B / 2), 8]
    %88 = concat %87, %86 {axis = 1} : f32[B - floor(B / 2), 16]
    %89 = matmul %88, @w : f32[B - floor(B / 2), 4]
    %90 = concat %77, %89 {axis = 0} : f32[B, 4]
    %91 = reduce %90 {axes = [0]} : f32[4]
    ret %90, %91
  }
}
# ---- shard_codes ----
# shard: rows of f32 travel as codes of 8 bits and a step a row; maxima, which may be infinite, as they are.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], wire = i8}
    %1, %2 = bag %0, %ids, %off, %0, %ids, %off {operands = [1, 1], pool = [sum, max], negative = skip}
    ret %1, %2
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @a.0 : f32[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8 = bag_ids %ids, %off {operands = 1, rows = 4, feature = 1, pool = max, negative = skip} : i64[B], i64[ids2]
    %9, %10, %11, %12, %13 = deal %7, %8 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt2], i64[2], i64[ids2]
    %14, %15, %16, %17, %18, %19, %20, %21 = all_to_all %2, %3, %4, %5, %9, %10, %11, %12 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2]
    %22 = cumsum %14 {axis = 0, complete} : i64[came + 1]
    %23 = bag @a.0, %16, %22 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %24 = abs %23 : f32[came, 2]
    %25 = reduce %24 {op = max, axes = [1], keep} : f32[came, 1]
    %26 = const {value = 127} : f32[]
    %27 = div %25, %26 : f32[came, 1]
    %28 = div %23, %27 : f32[came, 2]
    %29 = round %28 : f32[came, 2]
    %30 = abs %29 : f32[came, 2]
    %31 = const {value = 127} : f32[]
    %32 = le %30, %31 : bool[came, 2]
    %33 = const {value = 0} : f32[]
    %34 = where %32, %29, %33 : f32[came, 2]
    %35 = cast %34 {to = i8} : i8[came, 2]
    %36 = cumsum %18 {axis = 0, complete} : i64[came3 + 1]
    %37 = bag @a.0, %20, %36 {operands = [1], pool = [max], last = [offset], empty = [neg_inf], negative = skip} : f32[came3, 2]
    %38, %39, %40, %41, %42, %43 = all_to_all %35, %15, %3, %27, %15, %3, %37, %19, %10 {rank = 0, known} : i8[came5, 2], i64[2], f32[came6, 1], i64[2], f32[came7, 2], i64[2]
    %44 = cast %38 {to = f32} : f32[came5, 2]
    %45 = mul %44, %40 : f32[bcast(came5, came6), 2]
    %46 = reshape %45 {to = [2, B, 2]} : f32[2, B, 2]
    %47 = reduce %46 {axes = [0]} : f32[B, 2]
    %48 = reshape %42 {to = [2, B, 2]} : f32[2, B, 2]
    %49 = reduce %48 {op = max, axes = [0]} : f32[B, 2]
    %50 = const {value = 0} : i64[]
    %51 = eq %7, %50 : bool[B]
    %52 = const {value = 0} : f32[]
    %53 = reshape %51 {to = [B, 1]} : bool[B, 1]
    %54 = where %53, %52, %49 : f32[B, 2]
    ret %47, %54
  }
}
# ---- shard_columns ----
# shard: columns are put side by side, look-ups without pooling find their rows again, and a rank without a table sends none; one that has all of it keeps it.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[3, 4] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  weight @b : f32[4, 2] = splat(2)
  table @q : u4<rowwise f16>[2, 8] = inline(0x003c000010325476003c000098badcfe)
  graph @main(%ids: i64[N], %off: i64[B], %ids2: i64[B, 2]) -> (f32[B, 4], f32[B, 2, 2], f32[B, 8]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 3, 0, 1, 1, 0, 3, 1, 1, 1, 0, 3, 2, 2]}
    %1 = shard @b {world = 2, rank = 0, parts = [0, 0, 4, 0, 2]}
    %2 = shard @q {world = 2, rank = 0, parts = [1, 0, 2, 0, 4, 0, 0, 2, 4, 4]}
    %3 = bag %0, %ids, %off {operands = [1], pool = [max]}
    %4 = bag %1, %ids2 {operands = [0], pool = [none]}
    %5 = bag %2, %ids2 {operands = [0], pool = [mean]}
    ret %3, %4, %5
  }
}
# expect:
module @m {
  weight @a : f32[3, 4] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  weight @b : f32[4, 2] = splat(2)
  table @q : u4<rowwise f16>[2, 8] = inline(0x003c000010325476003c000098badcfe)
  weight @a.0 : f32[3, 1] = [0, 4, 8]
  table @q.1 : u4<rowwise f16>[2, 4] = inline(0x003c00005476003c0000dcfe)
  graph @main(%ids: i64[N], %off: i64[B], %ids2: i64[B, 2]) -> (f32[B, 4], f32[B, 2, 2], f32[B, 8]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 3, pool = max} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10, %11 = deal %0, %1 {world = 2, starts = [0], ranks = [1], bases = [0], keep} : i64[B], i64[2], i64[dealt2], i64[2], i64[ids]
    %12, %13 = bag_ids %ids2 {operands = 0, rows = 4, pool = none} : i64[2*B], i64[2*B]
    %14, %15, %16, %17, %18 = deal %12, %13 {world = 2, starts = [0], ranks = [0], bases = [0]} : i64[2*B], i64[2], i64[dealt3], i64[2], i64[2*B]
    %19, %20 = bag_ids %ids2 {operands = 0, rows = 2, pool = mean} : i64[B], i64[ids2]
    %21, %22, %23, %24, %25 = deal %19, %20 {world = 2, starts = [0], ranks = [1], bases = [0], keep} : i64[B], i64[2], i64[dealt4], i64[2], i64[ids2]
    %26, %27, %28, %29, %30 = deal %19, %20 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt5], i64[2], i64[ids2]
    %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48 = all_to_all %2, %3, %4, %5, %7, %8, %9, %10, %16, %17, %21, %22, %23, %24, %26, %27, %28, %29 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2], i64[came4], i64[2], i64[came5], i64[2], i64[came6], i64[2], i64[came7], i64[2], i64[came8], i64[2], i64[came9], i64[2]
    %49 = cumsum %31 {axis = 0, complete} : i64[came + 1]
    %50 = bag @a.0, %33, %49 {operands = [1], pool = [max], last = [offset], negative = skip} : f32[came, 1]
    %51 = const {value = 0} : f32[]
    %52 = expand %51 {to = [0, 3]} : f32[0, 3]
    %53 = bag @b, %39 {operands = [0], pool = [none], negative = skip} : f32[came5, 2]
    %54 = const {value = 0} : f32[]
    %55 = expand %54 {to = [0, 4]} : f32[0, 4]
    %56 = cumsum %45 {axis = 0, complete} : i64[came8 + 1]
    %57 = bag @q.1, %47, %56 {operands = [1], pool = [mean], last = [offset], negative = skip} : f32[came8, 4]
    %58, %59, %60, %61, %62, %63, %64, %65, %66, %67 = all_to_all %50, %32, %3, %52, %36, %8, %53, %40, %17, %55, %42, %22, %57, %46, %27 {rank = 0, known} : f32[came10, 1], i64[2], f32[came11, 3], i64[2], f32[came12, 2], i64[2], f32[came13, 4], i64[2], f32[came14, 4], i64[2]
    %68 = reshape %58 {to = [B, 1]} : f32[B, 1]
    %69 = reshape %60 {to = [B, 3]} : f32[B, 3]
    %70 = concat %68, %69 {axis = 1} : f32[B, 4]
    %71 = bag %62, %18 {operands = [0], pool = [none], negative = skip} : f32[2*B, 2]
    %72 = reshape %71 {to = [B, 2, 2]} : f32[B, 2, 2]
    %73 = reshape %64 {to = [B, 4]} : f32[B, 4]
    %74 = reshape %66 {to = [B, 4]} : f32[B, 4]
    %75 = concat %73, %74 {axis = 1} : f32[B, 8]
    ret %70, %72, %75
  }
}
# ---- shard_distinct ----
# shard: where an id travels but once its row comes back, and bags are pooled at home, with their weights.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f16[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f16[B, 2], f16[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], distinct}
    %1, %2 = bag %0, %ids, %off, %w, %0, %ids, %off {operands = [5, 1], pool = [sum, mean], empty = [zero, nan], negative = skip}
    ret %1, %2
  }
}
# expect:
module @m {
  weight @a : f16[4, 2] = splat(1)
  weight @a.0 : f16[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f16[B, 2], f16[B, 2]) {
    %0, %1, %2 = bag_ids %ids, %off, %w {operands = 5, rows = 4, negative = skip} : i64[B], i64[ids], f32[ids]
    %3, %4, %5, %6, %7 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0], distinct} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %8, %9 = bag_ids %ids, %off {operands = 1, rows = 4, feature = 1, pool = mean, negative = skip} : i64[B], i64[ids2]
    %10, %11, %12, %13, %14 = deal %8, %9 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0], distinct} : i64[2*B], i64[2], i64[dealt2], i64[2], i64[ids2]
    %15, %16, %17, %18 = all_to_all %5, %6, %12, %13 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %19 = bag @a.0, %15 {operands = [0], pool = [none], negative = skip} : f16[came, 2]
    %20 = bag @a.0, %17 {operands = [0], pool = [none], negative = skip} : f16[came2, 2]
    %21, %22, %23, %24 = all_to_all %19, %16, %6, %20, %18, %13 {rank = 0, known} : f16[came3, 2], i64[2], f16[came4, 2], i64[2]
    %25 = cumsum %0 {axis = 0, complete} : i64[B + 1]
    %26 = bag %21, %7, %25, %2 {operands = [5], pool = [sum], last = [offset], negative = skip} : f16[B, 2]
    %27 = cumsum %8 {axis = 0, complete} : i64[B + 1]
    %28 = bag %23, %14, %27 {operands = [1], pool = [mean], last = [offset], empty = [nan], negative = skip} : f16[B, 2]
    ret %26, %28
  }
}
# ---- shard_rows ----
# shard: rows on all ranks are added by reduce_scatter, those on some come and are added here; a mean is divided at home; a table that all have stays.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[5, 2] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  weight @b : f16[4, 2] = splat(2)
  weight @c : f32[3, 2] = splat(3)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 2], f16[B, 2], f32[B, 2]) {
    %0 = shard @a {world = 3, rank = 1, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2, 2, 4, 1, 0, 2]}
    %1 = shard @b {world = 3, rank = 1, parts = [0, 0, 2, 0, 2, 1, 2, 1, 0, 2, 1, 3, 1, 0, 2]}
    %2 = shard @c {world = 3, rank = 1}
    %3, %4, %5 = bag %0, %ids, %off, %1, %ids, %off, %w, %2, %ids, %off {operands = [1, 5, 1], pool = [mean, sum, sum], negative = skip, range = clamp}
    ret %3, %4, %5
  }
}
# expect:
module @m {
  weight @a : f32[5, 2] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  weight @b : f16[4, 2] = splat(2)
  weight @c : f32[3, 2] = splat(3)
  weight @a.0 : f32[2, 2] = [4, 5, 6, 7]
  weight @b.0 : f16[2, 2] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 2], f16[B, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 5, pool = mean, negative = skip, range = clamp} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 3, starts = [0, 2, 4], ranks = [0, 1, 2], bases = [0, 0, 0]} : i64[3*B], i64[3], i64[dealt], i64[3], i64[ids]
    %7, %8, %9 = bag_ids %ids, %off, %w {operands = 5, rows = 4, feature = 1, negative = skip, range = clamp} : i64[B], i64[ids2], f32[ids2]
    %10, %11, %12, %13, %14, %15 = deal %7, %8, %9 {world = 3, starts = [0, 2, 3], ranks = [0, 1, 1], bases = [0, 0, 1]} : i64[2*B], i64[3], i64[dealt2], i64[3], i64[ids2], f32[dealt2]
    %16, %17, %18, %19, %20, %21, %22, %23, %24, %25 = all_to_all %2, %3, %4, %5, %10, %11, %12, %13, %15, %13 {rank = 1} : i64[came], i64[3], i64[came2], i64[3], i64[came3], i64[3], i64[came4], i64[3], f32[came5], i64[3]
    %26 = cumsum %16 {axis = 0, complete} : i64[came + 1]
    %27 = bag @a.0, %18, %26 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %28 = cumsum %20 {axis = 0, complete} : i64[came3 + 1]
    %29 = bag @b.0, %22, %28, %24 {operands = [5], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came3, 2]
    %30 = reduce_scatter %27, %17 {rank = 1} : f32[came6, 2]
    %31, %32 = all_to_all %29, %21, %11 {rank = 1, known} : f32[came7, 2], i64[3]
    %33 = reshape %30 {to = [B, 2]} : f32[B, 2]
    %34 = cast %0 {to = f32} : f32[B]
    %35 = reshape %34 {to = [B, 1]} : f32[B, 1]
    %36 = div %33, %35 : f32[B, 2]
    %37 = const {value = 0} : i64[]
    %38 = eq %0, %37 : bool[B]
    %39 = const {value = 0} : f32[]
    %40 = reshape %38 {to = [B, 1]} : bool[B, 1]
    %41 = where %40, %39, %36 : f32[B, 2]
    %42 = reshape %31 {to = [2, B, 2]} : f32[2, B, 2]
    %43 = reduce %42 {axes = [0]} : f32[B, 2]
    %44 = cast %43 {to = f16} : f16[B, 2]
    %45 = bag @c, %ids, %off {operands = [1], pool = [sum], negative = skip, range = clamp} : f32[B, 2]
    ret %41, %44, %45
  }
}
# ---- shard_together ----
# shard: bags of other rules travel together, and what needs one of them comes after; one that needs another's result travels for itself.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_passes_shard runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @b : i64[4, 1] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], i64[N, 1], f32[N, 2], f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0, 2]}
    %1 = shard @b {world = 2, rank = 0, parts = [1, 0, 4, 0, 1]}
    %2 = bag %0, %ids, %off {operands = [1], pool = [sum], negative = skip}
    %3 = relu %2
    %4 = bag %1, %ids {operands = [0], pool = [none], range = clamp}
    %5 = reshape %4 {to = [N]}
    %6 = bag %0, %5 {operands = [0], pool = [none]}
    %7 = bag @a, %ids, %off {operands = [1], pool = [sum], range = clamp}
    ret %3, %4, %6, %7
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @b : i64[4, 1] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2], i64[N, 1], f32[N, 2], f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0], ranks = [0], bases = [0], keep} : i64[B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8 = bag_ids %ids {operands = 0, rows = 4, pool = none, range = clamp} : i64[N], i64[N]
    %9, %10, %11, %12, %13 = deal %7, %8 {world = 2, starts = [0], ranks = [1], bases = [0]} : i64[N], i64[2], i64[dealt2], i64[2], i64[N]
    %14, %15, %16, %17, %18, %19 = all_to_all %2, %3, %4, %5, %11, %12 {rank = 0} : i64[came], i64[2], i64[came2], i64[2], i64[came3], i64[2]
    %20 = cumsum %14 {axis = 0, complete} : i64[came + 1]
    %21 = bag @a, %16, %20 {operands = [1], pool = [sum], last = [offset], negative = skip} : f32[came, 2]
    %22 = const {value = 0} : i64[]
    %23 = expand %22 {to = [0, 1]} : i64[0, 1]
    %24, %25, %26, %27 = all_to_all %21, %15, %3, %23, %19, %12 {rank = 0, known} : f32[came4, 2], i64[2], i64[came5, 1], i64[2]
    %28 = reshape %24 {to = [B, 2]} : f32[B, 2]
    %29 = bag %26, %13 {operands = [0], pool = [none], negative = skip} : i64[N, 1]
    %30 = relu %28 : f32[B, 2]
    %31 = reshape %29 {to = [N]} : i64[N]
    %32, %33 = bag_ids %31 {operands = 0, rows = 4, pool = none} : i64[N], i64[N]
    %34, %35, %36, %37, %38 = deal %32, %33 {world = 2, starts = [0], ranks = [0], bases = [0]} : i64[N], i64[2], i64[dealt3], i64[2], i64[N]
    %39, %40 = all_to_all %36, %37 {rank = 0} : i64[came6], i64[2]
    %41 = bag @a, %39 {operands = [0], pool = [none], negative = skip} : f32[came6, 2]
    %42, %43 = all_to_all %41, %40, %37 {rank = 0, known} : f32[came7, 2], i64[2]
    %44 = bag %42, %38 {operands = [0], pool = [none], negative = skip} : f32[N, 2]
    %45 = bag @a, %ids, %off {operands = [1], pool = [sum], range = clamp} : f32[B, 2]
    ret %30, %29, %44, %45
  }
}
# ---- shard_wire ----
# shard: rows of f32 travel as bf16, and are added in f32 where they arrive; so no reduce_scatter adds them on the way.
# run: shard,dce
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2]) {
    %0 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 2, 0, 2], wire = bf16}
    %1 = bag %0, %ids, %off {operands = [1], pool = [sum], negative = skip}
    ret %1
  }
}
# expect:
module @m {
  weight @a : f32[4, 2] = splat(1)
  weight @a.0 : f32[2, 2] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 4, negative = skip} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [0, 1], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10 = all_to_all %2, %3, %4, %5 {rank = 0} : i64[came], i64[2], i64[came2], i64[2]
    %11 = cumsum %7 {axis = 0, complete} : i64[came + 1]
    %12 = bag @a.0, %9, %11 {operands = [1], pool = [sum], last = [offset], negative = skip, to = f32} : f32[came, 2]
    %13 = cast %12 {to = bf16} : bf16[came, 2]
    %14, %15 = all_to_all %13, %8, %3 {rank = 0, known} : bf16[came3, 2], i64[2]
    %16 = cast %14 {to = f32} : f32[came3, 2]
    %17 = reshape %16 {to = [2, B, 2]} : f32[2, B, 2]
    %18 = reduce %17 {axes = [0]} : f32[B, 2]
    ret %18
  }
}
