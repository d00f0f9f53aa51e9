# ---- matrix ----
# bag_sequence: a matrix of ids, with a weight each.
# run: bag_sequence,dce
# refuses: weights that only broadcasting makes as many as the ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = dims {values = [B], scalar} : i64[]
    %4 = dims {values = [L], scalar} : i64[]
    %5 = dims {values = [B*L], scalar} : i64[]
    %6 = range %0, %5, %4 : i64[B]
    %7 = reshape %ids {to = [B*L]} : i64[B*L]
    %8 = gather @table, %7 {axis = 0} : f32[B*L, 4]
    %9 = reshape %weights {to = [B2*L_2, 1]} : f32[B2*L_2, 1]
    guard eq(bcast(B*L, B2*L_2), bcast(B2*L_2, B*L))
    %10 = mul %8, %9 : f32[bcast(B*L, B2*L_2), 4]
    %11 = dims {values = [B*L]} : i64[1]
    %12 = concat %6, %11 {axis = 0} : i64[B + 1]
    %13 = lt %0, %3 : bool[]
    %14 = const {value = -1} : i64[]
    %15 = seq_empty {of = f32} : seq<f32[1, 4]>
    %16, %17 = loop %14, %13, %15, %0 : seq<f32[1, 4]>, i64[] (%t42: i64[], %g43: bool[], %c44: seq<f32[1, 4]>, %c45: i64[]) {
      %18 = reshape %c45 {to = [1]} : i64[1]
      %19 = add %18, %1 : i64[1]
      %20 = slice %12, %18, %19 : i64[n]
      %21 = add %18, %2 : i64[1]
      %22 = slice %12, %19, %21 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %23 = eq %20, %22 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %24 = reshape %23 {to = []} : bool[]
      %25 = if %24 : f32[1, 4] {
        yield @zeros
      } else {
        %26 = slice %10, %20, %22 : f32[n3, 4]
        %27 = reduce %26 {op = sum, axes = [0], keep} : f32[1, 4]
        yield %27
      }
      %28 = seq_insert %c44, %25 : seq<f32[1, 4]>
      %29 = add %c45, %1 : i64[]
      %30 = lt %29, %3 : bool[]
      yield %30, %28, %29
    }
    %31 = seq_concat %16 {axis = 0} : f32[n4, 4]
    ret %31
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[B, L], %weights: f32[B2, L_2]) -> (f32[B, 4]) {
    guard eq(bcast(B*L, B2*L_2), bcast(B2*L_2, B*L))
    guard eq(B2*L_2, B*L) "there must be one weight an id"
    %0 = reshape %weights {to = [B*L]} : f32[B*L]
    %1 = reshape %0 {to = [B, L]} : f32[B, L]
    %2 = bag @table, %ids, %1 {operands = [4], pool = [sum]} : f32[B, 4]
    ret %2
  }
}
# ---- max_last_offset ----
# bag_sequence: the last maximum is that of all that is left of the ids.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n5, 4]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B - 1], scalar} : i64[]
    %6 = lt %1, %5 : bool[]
    %7 = const {value = -1} : i64[]
    %8 = seq_empty {of = f32} : seq<f32[1, 4]>
    %9, %10 = loop %7, %6, %8, %1 : seq<f32[1, 4]>, i64[] (%t32: i64[], %g33: bool[], %c34: seq<f32[1, 4]>, %c35: i64[]) {
      %11 = reshape %c35 {to = [1]} : i64[1]
      %12 = add %11, %0 : i64[1]
      %13 = slice %off, %11, %12 : i64[n]
      %14 = add %11, %2 : i64[1]
      %15 = slice %off, %12, %14 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %16 = eq %13, %15 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %17 = reshape %16 {to = []} : bool[]
      %18 = if %17 : f32[1, 4] {
        yield @zeros
      } else {
        %19 = dims {values = [B - 2], scalar} : i64[]
        %20 = eq %c35, %19 : bool[]
        %21 = if %20 : f32[if_67_d0, 4] {
          %22 = slice %3, %13, %4 : f32[n3, 4]
          yield %22
        } else {
          %23 = slice %3, %13, %15 : f32[n4, 4]
          yield %23
        }
        %24 = reduce %21 {op = max, axes = [0], keep} : f32[1, 4]
        yield %24
      }
      %25 = seq_insert %c34, %18 : seq<f32[1, 4]>
      %26 = add %c35, %0 : i64[]
      %27 = lt %26, %5 : bool[]
      yield %27, %25, %26
    }
    %28 = seq_concat %9 {axis = 0} : f32[n5, 4]
    ret %28
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = bag @table, %ids, %off {operands = [1], pool = [max], last = [rest], offsets = slice} : f32[B - 1, 4]
    ret %0
  }
}
# ---- mean ----
# bag_sequence: the last mean divides by what is left of the ids, which is the same.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = concat %off, %4 {axis = 0} : i64[B + 1]
    %7 = lt %0, %5 : bool[]
    %8 = const {value = -1} : i64[]
    %9 = seq_empty {of = f32} : seq<f32[1, 4]>
    %10, %11 = loop %8, %7, %9, %0 : seq<f32[1, 4]>, i64[] (%t31: i64[], %g32: bool[], %c33: seq<f32[1, 4]>, %c34: i64[]) {
      %12 = reshape %c34 {to = [1]} : i64[1]
      %13 = add %12, %1 : i64[1]
      %14 = slice %6, %12, %13 : i64[n]
      %15 = add %12, %2 : i64[1]
      %16 = slice %6, %13, %15 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %17 = eq %14, %16 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %18 = reshape %17 {to = []} : bool[]
      %19 = if %18 : f32[1, 4] {
        yield @zeros
      } else {
        %20 = slice %3, %14, %16 : f32[n3, 4]
        %21 = dims {values = [B - 1], scalar} : i64[]
        %22 = eq %c34, %21 : bool[]
        %23 = if %22 : f32[1, 4] {
          %24 = reduce %20 {op = sum, axes = [0], keep} : f32[1, 4]
          %25 = sub %4, %14 : i64[n]
          %26 = gt %25, %0 : bool[n]
          guard eq(n, 1)
          %27 = reshape %26 {to = []} : bool[]
          %28 = if %27 : f32[1, 4] {
            %29 = cast %25 {to = f32} : f32[n]
            %30 = div %24, %29 : f32[1, 4]
            yield %30
          } else {
            yield %24
          }
          yield %28
        } else {
          %31 = reduce %20 {op = mean, axes = [0], keep} : f32[1, 4]
          yield %31
        }
        yield %23
      }
      %32 = seq_insert %c33, %19 : seq<f32[1, 4]>
      %33 = add %c34, %1 : i64[]
      %34 = lt %33, %5 : bool[]
      yield %34, %32, %33
    }
    %35 = seq_concat %10 {axis = 0} : f32[n4, 4]
    ret %35
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [mean], offsets = slice} : f32[B, 4]
    ret %0
  }
}
# ---- mean_last_offset ----
# bag_sequence: the last mean divides by what is left of the ids, which may be more.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 1} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [B - 1], scalar} : i64[]
    %5 = lt %1, %4 : bool[]
    %6 = const {value = -1} : i64[]
    %7 = seq_empty {of = f32} : seq<f32[1, 4]>
    %8, %9 = loop %6, %5, %7, %1 : seq<f32[1, 4]>, i64[] (%t32: i64[], %g33: bool[], %c34: seq<f32[1, 4]>, %c35: i64[]) {
      %10 = reshape %c35 {to = [1]} : i64[1]
      %11 = add %10, %0 : i64[1]
      %12 = slice %off, %10, %11 : i64[n]
      %13 = add %10, %2 : i64[1]
      %14 = slice %off, %11, %13 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %15 = eq %12, %14 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %16 = reshape %15 {to = []} : bool[]
      %17 = if %16 : f32[1, 4] {
        yield @zeros
      } else {
        %18 = slice %3, %12, %14 : f32[n3, 4]
        %19 = dims {values = [B - 2], scalar} : i64[]
        %20 = eq %c35, %19 : bool[]
        %21 = if %20 : f32[1, 4] {
          %22 = reduce %18 {op = sum, axes = [0], keep} : f32[1, 4]
          %23 = dims {values = [N]} : i64[1]
          %24 = sub %23, %12 : i64[n]
          %25 = gt %24, %1 : bool[n]
          guard eq(n, 1)
          %26 = reshape %25 {to = []} : bool[]
          %27 = if %26 : f32[1, 4] {
            %28 = cast %24 {to = f32} : f32[n]
            %29 = div %22, %28 : f32[1, 4]
            yield %29
          } else {
            yield %22
          }
          yield %27
        } else {
          %30 = reduce %18 {op = mean, axes = [0], keep} : f32[1, 4]
          yield %30
        }
        yield %21
      }
      %31 = seq_insert %c34, %17 : seq<f32[1, 4]>
      %32 = add %c35, %0 : i64[]
      %33 = lt %32, %4 : bool[]
      yield %33, %31, %32
    }
    %34 = seq_concat %8 {axis = 0} : f32[n4, 4]
    ret %34
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = bag @table, %ids, %off {operands = [1], pool = [mean], last = [mean], offsets = slice} : f32[B - 1, 4]
    ret %0
  }
}
# ---- order ----
# bag_sequence: carried values in the other order.
# run: bag_sequence,dce
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = concat %off, %4 {axis = 0} : i64[B + 1]
    %7 = lt %0, %5 : bool[]
    %8 = const {value = -1} : i64[]
    %9 = seq_empty {of = f32} : seq<f32[1, 4]>
    %10, %11 = loop %8, %7, %0, %9 : i64[], seq<f32[1, 4]> (%t31: i64[], %g32: bool[], %c33: i64[], %c34: seq<f32[1, 4]>) {
      %12 = reshape %c33 {to = [1]} : i64[1]
      %13 = add %12, %1 : i64[1]
      %14 = slice %6, %12, %13 : i64[n]
      %15 = add %12, %2 : i64[1]
      %16 = slice %6, %13, %15 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %17 = eq %14, %16 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %18 = reshape %17 {to = []} : bool[]
      %19 = if %18 : f32[1, 4] {
        yield @zeros
      } else {
        %20 = slice %3, %14, %16 : f32[n3, 4]
        %21 = reduce %20 {op = sum, axes = [0], keep} : f32[1, 4]
        yield %21
      }
      %22 = seq_insert %c34, %19 : seq<f32[1, 4]>
      %23 = add %c33, %1 : i64[]
      %24 = lt %23, %5 : bool[]
      yield %24, %23, %22
    }
    %25 = seq_concat %11 {axis = 0} : f32[n4, 4]
    ret %25
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [sum], offsets = slice} : f32[B, 4]
    ret %0
  }
}
# ---- padding ----
# bag_sequence: an inner loop leaves the padding id out; the last offset is overwritten.
# run: bag_sequence,dce
# values: ids below 11
# values: off offsets ids
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n, 4]) {
    %0 = const {value = 11} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = [-1]} : i64[1]
    %3 = const {value = 0} : i64[]
    %4 = const {value = []} : i64[0]
    %5 = gather @table, %ids {axis = 0} : f32[N, 4]
    %6 = dims {values = [N]} : i64[1]
    %7 = dims {values = [B - 1], scalar} : i64[]
    %8 = scatter_elements %off, %2, %6 {axis = 0} : i64[B]
    %9 = lt %3, %7 : bool[]
    %10 = const {value = -1} : i64[]
    %11 = seq_empty {of = f32} : seq<f32[1, 4]>
    %12, %13 = loop %10, %9, %11, %3 : seq<f32[1, 4]>, i64[] (%t33: i64[], %g34: bool[], %c35: seq<f32[1, 4]>, %c36: i64[]) {
      %14 = gather %8, %c36 {axis = 0} : i64[]
      %15 = add %c36, %1 : i64[]
      %16 = gather %8, %15 {axis = 0} : i64[]
      %17 = lt %14, %16 : bool[]
      %18, %19 = loop %10, %17, %14, %4 : i64[], i64[loop] (%t48: i64[], %g49: bool[], %c50: i64[], %c51: i64[carried1_d0]) {
        %20 = gather %ids, %c50 {axis = 0} : i64[]
        %21 = lt %20, %3 : bool[]
        %22 = if %21 : i64[] {
          %23 = add %20, %0 : i64[]
          yield %23
        } else {
          yield %20
        }
        %24 = eq %22, %1 : bool[]
        %25 = not %24 : bool[]
        %26 = if %25 : i64[if_75_d0_2] {
          %27 = reshape %c50 {to = [1]} : i64[1]
          %28 = concat %c51, %27 {axis = 0} : i64[carried1_d0 + 1]
          yield %28
        } else {
          yield %c51
        }
        %29 = add %c50, %1 : i64[]
        %30 = lt %29, %16 : bool[]
        yield %30, %29, %26
      }
      %31 = dims {values = [loop], scalar} : i64[]
      %32 = eq %31, %3 : bool[]
      %33 = if %32 : f32[1, 4] {
        yield @zeros
      } else {
        %34 = gather %5, %19 {axis = 0} : f32[loop, 4]
        %35 = reduce %34 {op = mean, axes = [0], keep} : f32[1, 4]
        yield %35
      }
      %36 = seq_insert %c35, %33 : seq<f32[1, 4]>
      %37 = lt %15, %7 : bool[]
      yield %37, %36, %15
    }
    %38 = seq_concat %12 {axis = 0} : f32[n, 4]
    ret %38
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B - 1, 4]) {
    guard le(0, B - 1) "the offsets must hold the last bag's end"
    %0 = slice %off {starts = [0], sizes = [B - 1]} : i64[B - 1]
    %1 = bag @table, %ids, %0 {operands = [1], pool = [mean], padding = [1], offsets = slice} : f32[B - 1, 4]
    ret %1
  }
}
# ---- sum ----
# bag_sequence: rows put into a sequence; an empty bag gives zeros.
# run: bag_sequence,dce
module @model {
  symbol n {max = 1}
  symbol n2 {max = 1}
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[n4, 4]) {
    %0 = const {value = 0} : i64[]
    %1 = const {value = 1} : i64[]
    %2 = const {value = 2} : i64[]
    %3 = gather @table, %ids {axis = 0} : f32[N, 4]
    %4 = dims {values = [N]} : i64[1]
    %5 = dims {values = [B], scalar} : i64[]
    %6 = concat %off, %4 {axis = 0} : i64[B + 1]
    %7 = lt %0, %5 : bool[]
    %8 = const {value = -1} : i64[]
    %9 = seq_empty {of = f32} : seq<f32[1, 4]>
    %10, %11 = loop %8, %7, %9, %0 : seq<f32[1, 4]>, i64[] (%t31: i64[], %g32: bool[], %c33: seq<f32[1, 4]>, %c34: i64[]) {
      %12 = reshape %c34 {to = [1]} : i64[1]
      %13 = add %12, %1 : i64[1]
      %14 = slice %6, %12, %13 : i64[n]
      %15 = add %12, %2 : i64[1]
      %16 = slice %6, %13, %15 : i64[n2]
      guard eq(bcast(n, n2), bcast(n2, n))
      %17 = eq %14, %16 : bool[bcast(n, n2)]
      guard eq(bcast(n, n2), 1)
      %18 = reshape %17 {to = []} : bool[]
      %19 = if %18 : f32[1, 4] {
        yield @zeros
      } else {
        %20 = slice %3, %14, %16 : f32[n3, 4]
        %21 = reduce %20 {op = sum, axes = [0], keep} : f32[1, 4]
        yield %21
      }
      %22 = seq_insert %c33, %19 : seq<f32[1, 4]>
      %23 = add %c34, %1 : i64[]
      %24 = lt %23, %5 : bool[]
      yield %24, %22, %23
    }
    %25 = seq_concat %10 {axis = 0} : f32[n4, 4]
    ret %25
  }
}
# expect:
module @model {
  weight @table : f32[11, 4] = splat(1)
  weight @zeros : f32[1, 4] = splat(0)
  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 4]) {
    %0 = bag @table, %ids, %off {operands = [1], pool = [sum], offsets = slice} : f32[B, 4]
    ret %0
  }
}
