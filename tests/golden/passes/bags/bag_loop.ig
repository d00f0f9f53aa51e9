# ---- ends ----
# bag_loop: ends that are no shifted copy of the begins.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %begins: i64[B], %ends: i64[B]) -> (f32[B, 1, 4]) {
    %count = dims {values = [B], scalar} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %0 = loop %count, %true {scans = 1} : f32[B, 1, 4] (%i: i64[], %go: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = slice %begins, %1, %2 : i64[n1]
      %4 = slice %ends, %1, %2 : i64[n2]
      %5 = slice %ids, %3, %4 : i64[n3]
      %6 = gather @table, %5 {axis = 0} : f32[n3, 4]
      %7 = reduce %6 {op = sum, axes = [-2], keep} : f32[1, 4]
      yield %go, %7
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %begins: i64[B], %ends: i64[B]) -> (f32[B, 1, 4]) {
    %0 = bag @table, %ids, %begins, %ends {operands = [3], pool = [sum], offsets = slice} : f32[B, 4]
    %1 = reshape %0 {to = [B, 1, 4]} : f32[B, 1, 4]
    ret %1
  }
}
# ---- int32 ----
# bag_loop: casts of offsets are looked through; a maximum of nothing is -inf.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i32[N], %off: i32[B]) -> (f32[B, 4]) {
    %0 = const {value = true} : bool[]
    %1 = dims {values = [N]} : i64[1]
    %2 = cast %off {to = i64} : i64[B]
    %3 = concat %2, %1 {axis = 0} : i64[B + 1]
    %4 = slice %3 {starts = [1], sizes = [B]} : i64[B]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = loop %5, %0 {scans = 1} : f32[B, 4] (%i_27: i64[], %g28: bool[]) {
      %7 = gather %3, %i_27 {axis = 0} : i64[]
      %8 = gather %4, %i_27 {axis = 0} : i64[]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = reshape %8 {to = [1]} : i64[1]
      %11 = const {value = [0]} : i64[1]
      %12 = slice %ids, %9, %10, %11 : i32[n]
      %13 = gather @table, %12 {axis = 0} : f32[n, 4]
      %14 = reduce %13 {op = max, axes = [0]} : f32[4]
      yield %0, %14
    }
    ret %6
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i32[N], %off: i32[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [max], empty = [neg_inf], offsets = slice} : f32[B, 4]
    ret %0
  }
}
# ---- last_offset ----
# bag_loop: the offsets hold the last end; a mean of nothing is NaN.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[max(0, B - 1), 4]) {
    %0 = const {value = true} : bool[]
    %1 = slice %off {starts = [min(B, 1)], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %2 = dims {values = [max(0, B - 1)], scalar} : i64[]
    %3 = loop %2, %0 {scans = 1} : f32[max(0, B - 1), 4] (%i_13: i64[], %g14: bool[]) {
      %4 = gather %off, %i_13 {axis = 0} : i64[]
      %5 = gather %1, %i_13 {axis = 0} : i64[]
      %6 = reshape %4 {to = [1]} : i64[1]
      %7 = reshape %5 {to = [1]} : i64[1]
      %8 = const {value = [0]} : i64[1]
      %9 = slice %ids, %6, %7, %8 : i64[n]
      %10 = gather @table, %9 {axis = 0} : f32[n, 4]
      %11 = reduce %10 {op = mean, axes = [0]} : f32[4]
      yield %0, %11
    }
    ret %3
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[max(0, B - 1), 4]) {
    %0 = slice %off {starts = [min(B, 1)], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %1 = slice %off {starts = [0], sizes = [max(0, B - 1)]} : i64[max(0, B - 1)]
    %2 = bag @table, %ids, %1, %0 {operands = [3], pool = [mean], empty = [nan], offsets = slice} : f32[max(0, B - 1), 4]
    ret %2
  }
}
# ---- matrix ----
# bag_loop: a range of offsets is a matrix of ids, with a weight each.
# run: bag_loop,dce
# refuses: weights that only broadcasting makes as many as the ids
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    %0 = dims {values = [B*L], scalar} : i64[]
    %1 = dims {values = [L], scalar} : i64[]
    %2 = const {value = 0} : i64[]
    %3 = range %2, %0, %1 : i64[B]
    %4 = reshape %ids {to = [B*L]} : i64[B*L]
    %5 = reshape %weights {to = [B2*L_2]} : f32[B2*L_2]
    %6 = const {value = true} : bool[]
    %7 = dims {values = [B*L]} : i64[1]
    %8 = concat %3, %7 {axis = 0} : i64[B + 1]
    %9 = slice %8 {starts = [1], sizes = [B]} : i64[B]
    %10 = dims {values = [B], scalar} : i64[]
    %11 = loop %10, %6 {scans = 1} : f32[B, 4] (%i_51: i64[], %g52: bool[]) {
      %12 = gather %8, %i_51 {axis = 0} : i64[]
      %13 = gather %9, %i_51 {axis = 0} : i64[]
      %14 = reshape %12 {to = [1]} : i64[1]
      %15 = reshape %13 {to = [1]} : i64[1]
      %16 = const {value = [0]} : i64[1]
      %17 = slice %4, %14, %15, %16 : i64[n]
      %18 = gather @table, %17 {axis = 0} : f32[n, 4]
      %19 = slice %5, %14, %15, %16 : f32[n2]
      %20 = reshape %19 {to = [n2, 1]} : f32[n2, 1]
      guard eq(bcast(n, n2), bcast(n2, n))
      %21 = mul %18, %20 : f32[bcast(n, n2), 4]
      %22 = reduce %21 {op = sum, axes = [0]} : f32[4]
      yield %6, %22
    }
    ret %11
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    %0 = reshape %weights {to = [B2*L_2]} : f32[B2*L_2]
    guard eq(B2*L_2, B*L) "there must be one weight an id"
    %1 = reshape %0 {to = [B*L]} : f32[B*L]
    %2 = reshape %1 {to = [B, L]} : f32[B, L]
    %3 = bag @table, %ids, %2 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %3
  }
}
# ---- stays ----
# bag_loop: loops that pool rows, but not as a bag does: one that may end early, bags that
# overlap, a reduction that is none of a bag's, ids that do not wrap, rows of which each
# trip takes another table.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @early(%ids: i64[N], %off: i64[3], %go: bool[2]) -> (f32[t, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[t, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0} : f32[n, 4]
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      %8 = gather %go, %i {axis = 0} : bool[]
      yield %8, %7
    }
    ret %0
  }
  graph @overlap(%ids: i64[N]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %two = const {value = [2]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %two : i64[1]
      %3 = slice %ids, %1, %2 : i64[n]
      %4 = gather @table, %3 {axis = 0} : f32[n, 4]
      %5 = reduce %4 {op = sum, axes = [0]} : f32[4]
      yield %c, %5
    }
    ret %0
  }
  graph @least(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0} : f32[n, 4]
      %7 = reduce %6 {op = min, axes = [0]} : f32[4]
      yield %c, %7
    }
    ret %0
  }
  graph @no_wrap(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather @table, %5 {axis = 0, negative = error} : f32[n, 4]
      %7 = reduce %6 {op = sum, axes = [0]} : f32[4]
      yield %c, %7
    }
    ret %0
  }
  graph @tables(%ids: i64[N], %off: i64[3], %tables: f32[2, 11, 4]) -> (f32[2, 4]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %1 = reshape %i {to = [1]} : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = gather %off, %1 {axis = 0} : i64[1]
      %4 = gather %off, %2 {axis = 0} : i64[1]
      %5 = slice %ids, %3, %4 : i64[n]
      %6 = gather %tables, %i {axis = 0} : f32[11, 4]
      %7 = gather %6, %5 {axis = 0} : f32[n, 4]
      %8 = reduce %7 {op = sum, axes = [0]} : f32[4]
      yield %c, %8
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @early(%ids: i64[N], %off: i64[3], %go: bool[2]) -> (f32[t, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[t, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0} : f32[n, 4]
      %10 = reduce %9 {op = sum, axes = [0]} : f32[4]
      %11 = gather %go, %i {axis = 0} : bool[]
      yield %11, %10
    }
    ret %3
  }
  graph @overlap(%ids: i64[N]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [2]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = slice %ids, %4, %5 : i64[n]
      %7 = gather @table, %6 {axis = 0} : f32[n, 4]
      %8 = reduce %7 {op = sum, axes = [0]} : f32[4]
      yield %c, %8
    }
    ret %3
  }
  graph @least(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0} : f32[n, 4]
      %10 = reduce %9 {op = min, axes = [0]} : f32[4]
      yield %c, %10
    }
    ret %3
  }
  graph @no_wrap(%ids: i64[N], %off: i64[3]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather @table, %8 {axis = 0, negative = error} : f32[n, 4]
      %10 = reduce %9 {op = sum, axes = [0]} : f32[4]
      yield %c, %10
    }
    ret %3
  }
  graph @tables(%ids: i64[N], %off: i64[3], %tables: f32[2, 11, 4]) -> (f32[2, 4]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = [1]} : i64[1]
    %3 = loop %0, %1 {scans = 1} : f32[2, 4] (%i: i64[], %c: bool[]) {
      %4 = reshape %i {to = [1]} : i64[1]
      %5 = add %4, %2 : i64[1]
      %6 = gather %off, %4 {axis = 0} : i64[1]
      %7 = gather %off, %5 {axis = 0} : i64[1]
      %8 = slice %ids, %6, %7 : i64[n]
      %9 = gather %tables, %i {axis = 0} : f32[11, 4]
      %10 = gather %9, %8 {axis = 0} : f32[n, 4]
      %11 = reduce %10 {op = sum, axes = [0]} : f32[4]
      yield %c, %11
    }
    ret %3
  }
}
# ---- steps ----
# bag_loop: bags of three ids from the second on; there may be more ids, not fewer.
# run: bag_loop,dce
# refuses: slices that are shorter at the end of the ids
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %w: f32[N], %x: f32[B]) -> (f32[B, 4]) {
    %count = dims {values = [B], scalar} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %three = const {value = [3]} : i64[1]
    %0 = loop %count, %true {scans = 1} : f32[B, 4] (%i: i64[], %go: bool[]) {
      %1 = mul %i, %three : i64[1]
      %2 = add %1, %one : i64[1]
      %3 = add %2, %three : i64[1]
      %4 = slice %ids, %2, %3 : i64[n]
      %5 = slice %w, %2, %3 : f32[m]
      %6 = reshape %5 {to = [m, 1]} : f32[m, 1]
      %7 = gather @table, %4 {axis = 0} : f32[n, 4]
      guard eq(n, m)
      %8 = mul %6, %7 : f32[n, 4]
      %9 = reduce %8 {op = sum, axes = [0]} : f32[4]
      yield %go, %9
    }
    ret %0
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %w: f32[N], %x: f32[B]) -> (f32[B, 4]) {
    guard le(3*B + 1, N) "there must be ids for all bags"
    %0 = slice %ids {starts = [1], sizes = [3*B]} : i64[3*B]
    %1 = reshape %0 {to = [B, 3]} : i64[B, 3]
    %2 = slice %w {starts = [1], sizes = [3*B]} : f32[3*B]
    %3 = reshape %2 {to = [B, 3]} : f32[B, 3]
    %4 = bag @table, %1, %3 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %4
  }
}
# ---- sum ----
# bag_loop: one bag a trip, offsets and the number of ids joined.
# run: bag_loop,dce
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = const {value = true} : bool[]
    %1 = dims {values = [N]} : i64[1]
    %2 = concat %off, %1 {axis = 0} : i64[B + 1]
    %3 = slice %2 {starts = [1], sizes = [B]} : i64[B]
    %4 = dims {values = [B], scalar} : i64[]
    %5 = loop %4, %0 {scans = 1} : f32[B, 4] (%i_25: i64[], %g26: bool[]) {
      %6 = gather %2, %i_25 {axis = 0} : i64[]
      %7 = gather %3, %i_25 {axis = 0} : i64[]
      %8 = reshape %6 {to = [1]} : i64[1]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = const {value = [0]} : i64[1]
      %11 = slice %ids, %8, %9, %10 : i64[n]
      %12 = gather @table, %11 {axis = 0} : f32[n, 4]
      %13 = reduce %12 {op = sum, axes = [0]} : f32[4]
      yield %0, %13
    }
    ret %5
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [sum], offsets = slice} : f32[B, 4]
    ret %0
  }
}
# ---- two_results ----
# bag_loop: of two stacked results one is a bag; the loop stays for the other one.
# run: bag_loop,dce
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[3]) -> (f32[2, 4], i64[2]) {
    %count = const {value = 2} : i64[]
    %true = const {value = true} : bool[]
    %one = const {value = 1} : i64[]
    %0, %1 = loop %count, %true {scans = 2} : f32[2, 4], i64[2] (%i: i64[], %go: bool[]) {
      %2 = add %i, %one : i64[]
      %3 = gather %off, %i {axis = 0} : i64[]
      %4 = gather %off, %2 {axis = 0} : i64[]
      %5 = reshape %3 {to = [1]} : i64[1]
      %6 = reshape %4 {to = [1]} : i64[1]
      %7 = slice %ids, %5, %6 : i64[n]
      %8 = gather @table, %7 {axis = 0} : f32[n, 4]
      %9 = reduce %8 {op = max, axes = [0]} : f32[4]
      %10 = sub %4, %3 : i64[]
      yield %go, %9, %10
    }
    ret %0, %1
  }
}
# expect:
module @m {
  weight @table : f32[11, 4] = splat(1)
  graph @main(%ids: i64[N], %off: i64[3]) -> (f32[2, 4], i64[2]) {
    %0 = const {value = 2} : i64[]
    %1 = const {value = true} : bool[]
    %2 = const {value = 1} : i64[]
    %3 = bag @table, %ids, %off {operands = [1], pool = [max], last = [offset], empty = [neg_inf], offsets = slice} : f32[2, 4]
    %4, %5 = loop %0, %1 {scans = 2} : f32[2, 4], i64[2] (%i: i64[], %go: bool[]) {
      %6 = add %i, %2 : i64[]
      %7 = gather %off, %i {axis = 0} : i64[]
      %8 = gather %off, %6 {axis = 0} : i64[]
      %9 = reshape %7 {to = [1]} : i64[1]
      %10 = reshape %8 {to = [1]} : i64[1]
      %11 = slice %ids, %9, %10 : i64[n]
      %12 = gather @table, %11 {axis = 0} : f32[n, 4]
      %13 = reduce %12 {op = max, axes = [0]} : f32[4]
      %14 = sub %8, %7 : i64[]
      yield %go, %13, %14
    }
    ret %3, %5
  }
}
