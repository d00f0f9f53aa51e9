# ---- add_guards ----
# add_guards: what ops take for granted becomes guards, in the block of the op; what a guard
# says already, what is proved, and what a result's own symbol stands for stay as they are.
# run: add_guards
# not run: its extents fit each other by these guards alone
module @m {
  graph @main(%c: bool[], %n: i64[], %x: f32[B], %y: f32[C], %m: f32[D, K], %w: f32[J, 4],
      %i: i64[D, 1], %v: f32[L]) -> () {
    %0 = add %x, %y : f32[bcast(B, C)]
    %1 = mul %x, %y : f32[bcast(B, C)]
    %2 = matmul %m, %w : f32[D, 4]
    %3 = slice %x {starts = [1], sizes = [J], steps = [1]} : f32[J]
    %4 = slice %x {starts = [K - 1], sizes = [K], steps = [-1]} : f32[K]
    %5 = gather_elements %m, %i {axis = 1} : f32[D, 1]
    %6 = reshape %y {to = [4, L]} : f32[4, L]
    guard eq(L, B) "said already"
    %7 = sub %v, %x : f32[B]
    %8 = relu %v : f32[D]
    %9 = if %c : f32[C] {
      %10 = concat %m, %m {axis = 0} : f32[2*D, K]
      %11 = div %x, %v : f32[B]
      yield %11
    } else {
      yield %y
    }
    %12 = loop %n, %c, %x : f32[C] (%t: i64[], %go: bool[], %r: f32[C]) {
      yield %go, %v
    }
    %13 = nonzero %x : i64[J, 1]
    %14 = expand %v {to = [3, D]} : f32[3, bcast(L, D)]
    ret
  }
}
# expect:
module @m {
  graph @main(
      %c: bool[],
      %n: i64[],
      %x: f32[B],
      %y: f32[C],
      %m: f32[D, K],
      %w: f32[J, 4],
      %i: i64[D, 1],
      %v: f32[L]) {
    guard eq(bcast(B, C), bcast(C, B)) "add: B and C do not broadcast"
    %0 = add %x, %y : f32[bcast(B, C)]
    %1 = mul %x, %y : f32[bcast(B, C)]
    guard eq(J, K) "matmul: J and K are not equal"
    %2 = matmul %m, %w : f32[D, 4]
    guard le(J*min(J, 1) + min(J, 1), B) "slice: J*min(J, 1) + min(J, 1) is more than B"
    %3 = slice %x {starts = [1], sizes = [J], steps = [1]} : f32[J]
    guard le(K, B) "slice: K is more than B"
    %4 = slice %x {starts = [K - 1], sizes = [K], steps = [-1]} : f32[K]
    %5 = gather_elements %m, %i {axis = 1} : f32[D, 1]
    guard eq(C, 4*L) "reshape: C and 4*L are not equal"
    %6 = reshape %y {to = [4, L]} : f32[4, L]
    guard eq(L, B) "said already"
    guard eq(bcast(L, B), B) "sub: bcast(L, B) and B are not equal"
    %7 = sub %v, %x : f32[B]
    guard eq(L, D) "relu: L and D are not equal"
    %8 = relu %v : f32[D]
    %9 = if %c : f32[C] {
      %10 = concat %m, %m {axis = 0} : f32[2*D, K]
      guard eq(bcast(B, L), B) "div: bcast(B, L) and B are not equal"
      %11 = div %x, %v : f32[B]
      guard eq(B, C) "yield: B and C are not equal"
      yield %11
    } else {
      yield %y
    }
    guard eq(B, C) "loop: B and C are not equal"
    %12 = loop %n, %c, %x : f32[C] (%t: i64[], %go: bool[], %r: f32[C]) {
      guard eq(L, C) "yield: L and C are not equal"
      yield %go, %v
    }
    %13 = nonzero %x : i64[J, 1]
    guard eq(bcast(D, L), bcast(L, D)) "expand: bcast(D, L) and bcast(L, D) are not equal"
    %14 = expand %v {to = [3, D]} : f32[3, bcast(L, D)]
    ret
  }
}
# ---- branch_extents ----
# branch_extents: on the side of one number of an extent the other side's extents are of that number too; others stay.
# run: branch_extents

module @m {
  symbol L
  symbol n {origin = "an extent in which two branches differ"}
  symbol n2 {origin = "an extent in which two branches differ"}
  graph @main(%x: i64[L]) -> (i64[n], i64[n2]) {
    %0 = dims {values = [L], scalar} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = gt %0, %1 : bool[]
    %3, %4 = if %2 : i64[n], i64[n2] {
      %5 = const {value = [0]} : i64[1]
      %6 = concat %5, %x {axis = 0} : i64[L + 1]
      yield %6, %6
    } else {
      %7 = const {value = [0]} : i64[1]
      %8 = const {value = [0, 1]} : i64[2]
      yield %7, %8
    }
    ret %3, %4
  }
}
# expect:
module @m {
  symbol n2 {origin = "an extent in which two branches differ"}
  graph @main(%x: i64[L]) -> (i64[L + 1], i64[n2]) {
    %0 = dims {values = [L], scalar} : i64[]
    %1 = const {value = 0} : i64[]
    %2 = gt %0, %1 : bool[]
    %3, %4 = if %2 : i64[L + 1], i64[n2] {
      %5 = const {value = [0]} : i64[1]
      %6 = concat %5, %x {axis = 0} : i64[L + 1]
      yield %6, %6
    } else {
      %7 = const {value = [0]} : i64[1]
      %8 = const {value = [0, 1]} : i64[2]
      %9 = expand %7 {to = [L + 1]} : i64[L + 1]
      yield %9, %8
    }
    ret %3, %4
  }
}
# ---- cse ----
# cse: computes equal things once. Operands of an op that commutes may be exchanged; types must be equal.
# run: cse
module @m {
  graph @main(%x: f32[B], %y: f32[B], %s: i64[1], %t: f32[N]) -> (f32[B], f32[B], f32[P], f32[Q], f32[Q]) {
    %0 = add %x, %y
    %1 = add %y, %x
    %2 = sub %x, %y
    %3 = sub %y, %x
    %4 = const {value = [1, 2]} : f32[2]
    %5 = const {value = [1, 2]} : f32[2]
    %6 = const {value = [1, -2]} : f32[2]
    %7 = mul %0, %1
    %8 = mul %2, %3
    %9 = reshape %t, %s : f32[P]
    %10 = reshape %t, %s : f32[Q]
    %11 = reshape %t, %s : f32[Q]
    guard eq(B, N) "one"
    guard eq(B, N) "the same"
    guard le(B, N) "another"
    ret %7, %8, %9, %10, %11
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[B], %s: i64[1], %t: f32[N]) -> (f32[B], f32[B], f32[P], f32[Q], f32[Q]) {
    %0 = add %x, %y : f32[B]
    %1 = sub %x, %y : f32[B]
    %2 = sub %y, %x : f32[B]
    %3 = const {value = [1, 2]} : f32[2]
    %4 = const {value = [1, -2]} : f32[2]
    %5 = mul %0, %0 : f32[B]
    %6 = mul %1, %2 : f32[B]
    %7 = reshape %t, %s : f32[P]
    %8 = reshape %t, %s : f32[Q]
    guard eq(B, N) "one"
    guard le(B, N) "another"
    ret %5, %6, %7, %8, %8
  }
}
# ---- cse_scopes ----
# cse: what stands in a block around is known inside; what stands in one branch is not known in the other, nor behind.
# run: cse
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (f32[B], f32[B], f32[B]) {
    %0 = relu %x
    %1 = if %c : f32[B] {
      %2 = relu %x
      %3 = neg %2
      yield %3
    } else {
      %4 = neg %0
      guard eq(B, 4) "four"
      yield %4
    }
    %5 = neg %0
    %6 = if %c : f32[B] {
      %7 = neg %0
      yield %7
    } else {
      guard eq(B, 4) "four"
      yield %x
    }
    ret %1, %5, %6
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (f32[B], f32[B], f32[B]) {
    %0 = relu %x : f32[B]
    %1 = if %c : f32[B] {
      %2 = neg %0 : f32[B]
      yield %2
    } else {
      %3 = neg %0 : f32[B]
      guard eq(B, 4) "four"
      yield %3
    }
    %4 = neg %0 : f32[B]
    %5 = if %c : f32[B] {
      yield %4
    } else {
      guard eq(B, 4) "four"
      yield %x
    }
    ret %1, %4, %5
  }
}
# ---- dce ----
# dce: removes ops whose results are not used, in bodies too; guards stay, and what holds them.
# run: dce
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B]) {
    %0 = relu %x
    %1 = neg %0
    %2 = if %c : f32[B] {
      %3 = abs %x
      %4 = neg %x
      yield %4
    } else {
      yield %x
    }
    %5 = if %c : f32[B] {
      %6 = abs %x
      guard eq(B, 4) "four"
      yield %6
    } else {
      yield %x
    }
    %7 = div %x, %y
    guard le(1, B) "not empty"
    ret %y
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B], %y: f32[B]) -> (f32[B]) {
    %0 = if %c : f32[B] {
      %1 = abs %x : f32[B]
      guard eq(B, 4) "four"
      yield %1
    } else {
      yield %x
    }
    guard le(1, B) "not empty"
    ret %y
  }
}
# ---- dce_bind ----
# dce: a bind goes, and what computes its number, when nothing mentions the symbol.
# run: dce
module @m {
  graph @main(%x: f32[N], %s: i64[3]) -> (f32[min(N, n)]) {
    %0 = slice %s {starts = [0], sizes = [1]} : i64[1]
    bind %0 {symbols = [n]}
    %1 = slice %s {starts = [1], sizes = [1]} : i64[1]
    bind %1 {symbols = [k]}
    %2 = slice %s {starts = [2], sizes = [1]} : i64[1]
    bind %2 {symbols = [m]}
    %3 = slice %x {starts = [0], sizes = [min(N, m)]} : f32[min(N, m)]
    %4 = slice %x {starts = [0], sizes = [min(N, n)]} : f32[min(N, n)]
    ret %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %s: i64[3]) -> (f32[min(N, n)]) {
    %0 = slice %s {starts = [0], sizes = [1]} : i64[1]
    bind %0 {symbols = [n]}
    %1 = slice %x {starts = [0], sizes = [min(N, n)]} : f32[min(N, n)]
    ret %1
  }
}
# ---- dce_symbols ----
# dce: an op that defines a symbol stays while something mentions it; the second reshape defines one that nothing mentions.
# run: dce
module @m {
  graph @main(%x: f32[N], %s: i64[1], %y: f32[B]) -> (i64[1], f32[B]) {
    %0 = reshape %x, %s : f32[T]
    %1 = reshape %x, %s : f32[U]
    %2 = dims {values = [T]}
    %3 = dims {values = [U]}
    %4 = expand %y {to = [B]}
    ret %2, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %s: i64[1], %y: f32[B]) -> (i64[1], f32[B]) {
    %0 = reshape %x, %s : f32[T]
    %1 = dims {values = [T]} : i64[1]
    %2 = expand %y {to = [B]} : f32[B]
    ret %1, %2
  }
}
# ---- fold_branches ----
# fold: works in bodies.
# run: fold,dce
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (i64[1]) {
    %0 = if %c : i64[1] {
      %1 = shape %x
      %2 = add %1, %1
      yield %2
    } else {
      %3 = const {value = [1]} : i64[1]
      %4 = neg %3
      yield %4
    }
    ret %0
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[B]) -> (i64[1]) {
    %0 = if %c : i64[1] {
      %1 = dims {values = [2*B]} : i64[1]
      yield %1
    } else {
      %2 = const {value = [-1]} : i64[1]
      yield %2
    }
    ret %0
  }
}
# ---- fold_constants ----
# fold: ops on constants are evaluated; what cannot be is left for the run to report.
# run: fold,dce
# not run: one id is always out of range
module @m {
  weight @w : f32[2] = [-1.5, -7]
  graph @main(%x: f32[2]) -> (f32[2], f32[2, 2], i64[], f32[2], bool[2]) {
    %0 = const {value = [1, 2]} : f32[2]
    %1 = const {value = [3, 4]} : f32[2]
    %2 = add %0, %1
    %3 = reshape %2 {to = [2, 1]}
    %4 = mul %3, %0
    %5 = const {value = [7, 8]} : i64[2]
    %6 = const {value = 9} : i64[]
    %7 = gather %5, %6 {axis = 0}
    %8 = neg @w
    %9 = lt %0, %8
    %10 = add %x, %2
    ret %8, %4, %7, %10, %9
  }
}
# expect:
module @m {
  weight @w : f32[2] = [-1.5, -7]
  graph @main(%x: f32[2]) -> (f32[2], f32[2, 2], i64[], f32[2], bool[2]) {
    %0 = const {value = [4, 6]} : f32[2]
    %1 = const {value = [4, 8, 6, 12]} : f32[2, 2]
    %2 = const {value = [7, 8]} : i64[2]
    %3 = const {value = 9} : i64[]
    %4 = gather %2, %3 {axis = 0} : i64[]
    %5 = const {value = [1.5, 7]} : f32[2]
    %6 = const {value = [true, true]} : bool[2]
    %7 = add %x, %0 : f32[2]
    ret %5, %1, %4, %7, %6
  }
}
# ---- fold_columns ----
# fold: a column of bytes that a reshape turns stays a weight of bytes where both factors
# are bytes; in a product with floats it is folded.
# run: fold,dce
module @m {
  weight @w : i8[1, 4] = [1, -2, 3, 4]
  graph @main(%x: u8[B, 4], %y: f32[B, 4]) -> (f32[B, 1], f32[B, 1]) {
    %0 = const {value = 0.5} : f32[]
    %1 = dequantize @w, %0 : f32[1, 4]
    %2 = reshape %1 {to = [4, 1]} : f32[4, 1]
    %3 = dequantize %x, %0 : f32[B, 4]
    %4 = matmul %3, %2 : f32[B, 1]
    %5 = dequantize @w, %0 : f32[1, 4]
    %6 = reshape %5 {to = [4, 1]} : f32[4, 1]
    %7 = matmul %y, %6 : f32[B, 1]
    ret %4, %7
  }
}
# expect:
module @m {
  weight @w : i8[1, 4] = [1, -2, 3, 4]
  graph @main(%x: u8[B, 4], %y: f32[B, 4]) -> (f32[B, 1], f32[B, 1]) {
    %0 = const {value = 0.5} : f32[]
    %1 = dequantize @w, %0 : f32[1, 4]
    %2 = reshape %1 {to = [4, 1]} : f32[4, 1]
    %3 = dequantize %x, %0 : f32[B, 4]
    %4 = matmul %3, %2 : f32[B, 1]
    %5 = const {value = [0.5, -1, 1.5, 2]} : f32[4, 1]
    %6 = matmul %y, %5 : f32[B, 1]
    ret %4, %6
  }
}
# ---- fold_limits ----
# fold: results of more than 64 KiB are not folded.
# run: fold,dce
module @m {
  graph @main() -> (f32[2, 3], f32[128, 129]) {
    %0 = const {value = 1.5} : f32[]
    %1 = expand %0 {to = [2, 3]}
    %2 = expand %0 {to = [128, 129]}
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main() -> (f32[2, 3], f32[128, 129]) {
    %0 = const {value = 1.5} : f32[]
    %1 = const {value = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5]} : f32[2, 3]
    %2 = expand %0 {to = [128, 129]} : f32[128, 129]
    ret %1, %2
  }
}
# ---- fold_shapes ----
# fold: shapes become dim expressions, and numbers where they are known.
# run: fold,dce
module @m {
  graph @main(%x: f32[B, 13], %y: f32[3, 4]) -> (i64[2], i64[1], i64[], f32[2, 6], bool[], i32[1], i64[2]) {
    %0 = shape %x
    %1 = const {value = [2, 1]} : i64[2]
    %2 = mul %0, %1
    %3 = const {value = [1]} : i64[1]
    %4 = gather %0, %3 {axis = 0}
    %5 = size %x
    %6 = const {value = 2} : i64[]
    %7 = size %y
    %8 = div %7, %6
    %9 = reshape %6 {to = [1]}
    %10 = reshape %8 {to = [1]}
    %11 = concat %9, %10 {axis = 0}
    %12 = reshape %y, %11
    %13 = eq %7, %8
    %14 = cast %4 {to = i32}
    %15 = add %2, %0
    ret %2, %4, %5, %12, %13, %14, %15
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 13], %y: f32[3, 4]) -> (i64[2], i64[1], i64[], f32[2, 6], bool[], i32[1], i64[2]) {
    %0 = dims {values = [2*B, 13]} : i64[2]
    %1 = const {value = [13]} : i64[1]
    %2 = dims {values = [13*B], scalar} : i64[]
    %3 = const {value = [2, 6]} : i64[2]
    %4 = reshape %y, %3 : f32[2, 6]
    %5 = const {value = false} : bool[]
    %6 = const {value = [13]} : i32[1]
    %7 = dims {values = [3*B, 26]} : i64[2]
    ret %0, %1, %2, %4, %5, %6, %7
  }
}
# ---- fold_symbols ----
# What a symbol that an op defined turns out to be is said everywhere.
# run: fold,canonicalise,dce
module @m {
  graph @main(%x: f32[4, 6], %y: f32[B, 6]) -> (i64[1], f32[T], f32[B, U]) {
    %0 = const {value = [3]} : i64[1]
    %1 = const {value = [8]} : i64[1]
    %2 = mul %0, %1
    %3 = reshape %x, %2 : f32[T]
    %4 = relu %3 : f32[T]
    %5 = dims {values = [2*T]}
    guard le(T, 24) "small"
    %6 = shape %y
    %7 = const {value = [0]} : i64[1]
    %8 = gather %6, %7 {axis = 0}
    %9 = const {value = [-1]} : i64[1]
    %10 = concat %8, %9 {axis = 0}
    %11 = reshape %y, %10 : f32[B, U]
    ret %5, %4, %11
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 6], %y: f32[B, 6]) -> (i64[1], f32[24], f32[B, 6]) {
    %0 = reshape %x {to = [24]} : f32[24]
    %1 = relu %0 : f32[24]
    %2 = dims {values = [48]} : i64[1]
    guard le(24, 24) "small"
    ret %2, %1, %y
  }
}
# ---- guards ----
# guards: takes away guards that are proved; in a branch one that never holds stays.
# run: guards
module @m {
  graph @main(%c: bool[], %x: f32[A, B]) -> () {
    guard eq(2*A, A + A) "proved"
    guard le(A, A + B) "proved"
    guard eq(A, B) "stays"
    if %c {
      guard eq(3, 4) "never, but perhaps never reached"
      guard eq(4, 4) "proved"
      yield
    } else {
      yield
    }
    ret
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[A, B]) {
    guard eq(A, B) "stays"
    if %c {
      guard eq(3, 4) "never, but perhaps never reached"
      yield
    } else {
      yield
    }
    ret
  }
}
# ---- infer ----
# infer: every value gets the most precise type that its operands allow.
# run: infer
module @m {
  graph @main(%x: f32[4, 3], %y: f32[B, 3]) -> (f32[N, 3], f32[M, L], f32[C, 3]) {
    %0 = relu %x : f32[N, 3]
    %1 = neg %0 : f32[M, L]
    %2 = add %y, %1 : f32[C, 3]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[4, 3], %y: f32[B, 3]) -> (f32[4, 3], f32[4, 3], f32[4, 3]) {
    %0 = relu %x : f32[4, 3]
    %1 = neg %0 : f32[4, 3]
    %2 = add %y, %1 : f32[4, 3]
    ret %0, %1, %2
  }
}
# ---- infer_if ----
# infer: an if has the type on which its branches agree; what does not fit in a branch stays.
# run: infer
module @m {
  graph @main(%c: bool[], %x: f32[4], %y: f32[N], %z: f32[5]) -> (f32[A], f32[C]) {
    %0 = if %c : f32[A] {
      %1 = relu %x
      yield %1
    } else {
      %2 = neg %x : f32[D]
      yield %2
    }
    %3 = if %c : f32[C] {
      yield %x
    } else {
      yield %y
    }
    ret %0, %3
  }
}
# expect:
module @m {
  graph @main(%c: bool[], %x: f32[4], %y: f32[N], %z: f32[5]) -> (f32[4], f32[C]) {
    %0 = if %c : f32[4] {
      %1 = relu %x : f32[4]
      yield %1
    } else {
      %2 = neg %x : f32[4]
      yield %2
    }
    %3 = if %c : f32[C] {
      yield %x
    } else {
      yield %y
    }
    ret %0, %3
  }
}
# ---- open_weights ----
# open_weights: parameters become arguments in front of states; equal ones stay apart.
# run: open_weights,fold,cse,dce
# not run: it takes more arguments
module @m {
  weight @b0 : f32[4] = splat(0) {parameter}
  weight @b1 : f32[4] = splat(0) {parameter}
  weight @k : f32[4] = splat(0)
  weight @s : i64[] = 0
  graph @main(%x: f32[B, 4], %s: i64[] = @s) -> (f32[B, 4] "y", i64[]) as forward(x: tensor) -> tensor {
    %0 = add %x, @b0 : f32[B, 4]
    %1 = relu %0 : f32[B, 4]
    %2 = add %1, @b1 : f32[B, 4]
    %3 = add %2, @k : f32[B, 4]
    %4 = add %3, @b0 : f32[B, 4]
    ret %4, %s
  }
}
# expect:
module @m {
  weight @b0 : f32[4] = splat(0) {parameter}
  weight @b1 : f32[4] = splat(0) {parameter}
  weight @k : f32[4] = splat(0)
  weight @s : i64[] = 0
  graph @main(%x: f32[B, 4], %b0: f32[4] {opened}, %b1: f32[4] {opened}, %s: i64[] = @s) -> (f32[B, 4] "y", i64[])
      as forward(x: tensor, b0: tensor, b1: tensor) -> tensor {
    %0 = add %x, %b0 : f32[B, 4]
    %1 = relu %0 : f32[B, 4]
    %2 = add %1, %b1 : f32[B, 4]
    %3 = add %2, @k : f32[B, 4]
    %4 = add %3, %b0 : f32[B, 4]
    ret %4, %s
  }
}
# ---- sink ----
# sink: elementwise ops behind a product's reshape go in front of it, with what feeds them alone; a view of other strides stays.
# run: sink,dce
module @m {
  weight @w : f32[1, 5, 16] = splat(0.5)
  weight @b : f32[16] = splat(0.25)
  graph @main(%x: f32[3*B, 5], %y: f32[B, 3, 16], %z: f32[B, 16, 3], %p: f32[3, 16]) -> (f32[B, 3, 16], f32[B, 3, 16], f32[B, 3, 16]) {
    %0 = matmul_panels %x, @w {columns = 16} : f32[3*B, 16]
    %1 = reshape %0 {to = [B, 3, 16]} : f32[B, 3, 16]
    %2 = add %1, @b : f32[B, 3, 16]
    %3 = const {value = 2} : f32[]
    %4 = mul %y, %3 : f32[B, 3, 16]
    %5 = mul %2, %4 : f32[B, 3, 16]
    %6 = transpose %z {perm = [0, 2, 1]} : f32[B, 3, 16]
    %7 = add %5, %6 : f32[B, 3, 16]
    %8 = add %5, %p : f32[B, 3, 16]
    ret %5, %7, %8
  }
}
# expect:
module @m {
  weight @w : f32[1, 5, 16] = splat(0.5)
  weight @b : f32[16] = splat(0.25)
  graph @main(%x: f32[3*B, 5], %y: f32[B, 3, 16], %z: f32[B, 16, 3], %p: f32[3, 16]) -> (f32[B, 3, 16], f32[B, 3, 16], f32[B, 3, 16]) {
    %0 = matmul_panels %x, @w {columns = 16} : f32[3*B, 16]
    %1 = add %0, @b : f32[3*B, 16]
    %2 = const {value = 2} : f32[]
    %3 = reshape %y {to = [3*B, 16]} : f32[3*B, 16]
    %4 = mul %3, %2 : f32[3*B, 16]
    %5 = mul %1, %4 : f32[3*B, 16]
    %6 = reshape %5 {to = [B, 3, 16]} : f32[B, 3, 16]
    %7 = transpose %z {perm = [0, 2, 1]} : f32[B, 3, 16]
    %8 = add %6, %7 : f32[B, 3, 16]
    %9 = add %6, %p : f32[B, 3, 16]
    ret %6, %8, %9
  }
}
# ---- sink_residual ----
# sink: a norm that others use is a residual, which goes to the product in its shape.
# run: sink,dce
# values: w plain
# values: n plain
# within: 1e-5 sums in another order
module @m {
  graph @main(%x: f32[12, 4], %w: f32[4, 6], %n: f32[3, 4, 6]) -> (f32[3, 4, 6], f32[3, 4, 6]) {
    %0 = layer_norm %n {axis = 2, epsilon = 1e-05} : f32[3, 4, 6]
    %1 = matmul %x, %w : f32[12, 6]
    %2 = reshape %1 {to = [3, 4, 6]} : f32[3, 4, 6]
    %3 = add %2, %0 : f32[3, 4, 6]
    ret %3, %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[12, 4], %w: f32[4, 6], %n: f32[3, 4, 6]) -> (f32[3, 4, 6], f32[3, 4, 6]) {
    %0 = layer_norm %n {axis = 2, epsilon = 1e-05} : f32[3, 4, 6]
    %1 = matmul %x, %w : f32[12, 6]
    %2 = reshape %0 {to = [12, 6]} : f32[12, 6]
    %3 = add %1, %2 : f32[12, 6]
    %4 = reshape %3 {to = [3, 4, 6]} : f32[3, 4, 6]
    ret %4, %0
  }
}
# ---- sink_norm ----
# sink: numbers of channels go in front of the reshape of a norm; those of an axis that it merges stay.
# run: sink,dce
module @m {
  graph @main(%x: f32[B, 6, 4, 5], %s: f32[6, 1, 1], %t: f32[B, 1, 1, 1], %v: f32[4, 1], %y: f32[B, 6, 4, 5]) -> (f32[B, 6, 4, 5], f32[B, 6, 4, 5]) {
    %0 = reshape %x {to = [B, 6, 20]} : f32[B, 6, 20]
    %1 = layer_norm %0 {axis = 2, epsilon = 1e-05} : f32[B, 6, 20]
    %2 = reshape %1 {to = [B, 6, 4, 5]} : f32[B, 6, 4, 5]
    %3 = mul %2, %s : f32[B, 6, 4, 5]
    %4 = add %3, %t : f32[B, 6, 4, 5]
    %5 = add %4, %y : f32[B, 6, 4, 5]
    %6 = mul %5, %v : f32[B, 6, 4, 5]
    ret %5, %6
  }
}
# expect:
module @m {
  graph @main(
      %x: f32[B, 6, 4, 5],
      %s: f32[6, 1, 1],
      %t: f32[B, 1, 1, 1],
      %v: f32[4, 1],
      %y: f32[B, 6, 4, 5]) -> (f32[B, 6, 4, 5], f32[B, 6, 4, 5]) {
    %0 = reshape %x {to = [B, 6, 20]} : f32[B, 6, 20]
    %1 = layer_norm %0 {axis = 2, epsilon = 1e-05} : f32[B, 6, 20]
    %2 = reshape %s {to = [6, 1]} : f32[6, 1]
    %3 = mul %1, %2 : f32[B, 6, 20]
    %4 = reshape %t {to = [B, 1, 1]} : f32[B, 1, 1]
    %5 = add %3, %4 : f32[B, 6, 20]
    %6 = reshape %y {to = [B, 6, 20]} : f32[B, 6, 20]
    %7 = add %5, %6 : f32[B, 6, 20]
    %8 = reshape %7 {to = [B, 6, 4, 5]} : f32[B, 6, 4, 5]
    %9 = mul %8, %v : f32[B, 6, 4, 5]
    ret %8, %9
  }
}
# ---- solve_extents ----
# solve_extents: extents of inputs that are sums become symbols, with what the sums say of them.
# run: solve_extents
module @m {
  symbol B {max = 100}
  symbol L {min = 1}
  graph @main(%x: f32[2*B, 4], %y: f32[3*A + B, 2], %z: f32[8*L + 4], %v: f32[2*B]) -> (f32[B, 4], f32[B, 8], f32[2*L + 1, 4], f32[6*A + 2*B]) {
    %0 = reshape %x {to = [B, 2, 4]} : f32[B, 2, 4]
    %1 = reduce %0 {axes = [1]} : f32[B, 4]
    %2 = reshape %x {to = [B, 8]} : f32[B, 8]
    %3 = reshape %z {to = [2*L + 1, 4]} : f32[2*L + 1, 4]
    %4 = reshape %y {to = [6*A + 2*B]} : f32[6*A + 2*B]
    ret %1, %2, %3, %4
  }
}
# expect:
module @m {
  symbol x_0 {max = 200, multiple = 2, origin = "dim 0 of input 'x'"}
  symbol y_0 {origin = "dim 0 of input 'y'"}
  symbol z_0 {min = 12, multiple = 4, origin = "dim 0 of input 'z'"}
  graph @main(%x: f32[x_0, 4], %y: f32[y_0, 2], %z: f32[z_0], %v: f32[x_0]) -> (f32[exact(x_0 / 2), 4], f32[exact(x_0 / 2), 8], f32[2*exact((z_0 - 4) / 8) + 1, 4], f32[2*y_0]) {
    guard eq(8*floor((z_0 + 4) / 8) - 4, z_0) "dim 0 of input 'z' must be 8*L + 4"
    guard le(exact(x_0 / 2), y_0) "dim 0 of input 'y' must be 3*A + exact(x_0 / 2)"
    guard eq(3*floor((y_0 - exact(x_0 / 2)) / 3) + exact(x_0 / 2), y_0) "dim 0 of input 'y' must be 3*A + exact(x_0 / 2)"
    %0 = reshape %x {to = [exact(x_0 / 2), 2, 4]} : f32[exact(x_0 / 2), 2, 4]
    %1 = reduce %0 {axes = [1]} : f32[exact(x_0 / 2), 4]
    %2 = reshape %x {to = [exact(x_0 / 2), 8]} : f32[exact(x_0 / 2), 8]
    %3 = reshape %z {to = [2*exact((z_0 - 4) / 8) + 1, 4]} : f32[2*exact((z_0 - 4) / 8) + 1, 4]
    %4 = reshape %y {to = [2*y_0]} : f32[2*y_0]
    ret %1, %2, %3, %4
  }
}
# ---- solve_extents_guards ----
# solve_extents: ranges of what is added to an extent that is not a number are held to by guards.
# run: solve_extents
module @m {
  symbol C {min = 2, max = 7}
  graph @main(%x: f32[A + 3*C], %y: f32[A]) -> (f32[A, 1], f32[3*C]) {
    %0 = reshape %y {to = [A, 1]} : f32[A, 1]
    %1 = slice %x {starts = [A], sizes = [3*C]} : f32[3*C]
    ret %0, %1
  }
}
# expect:
module @m {
  symbol x_0 {min = 6, origin = "dim 0 of input 'x'"}
  graph @main(%x: f32[x_0], %y: f32[A]) -> (f32[A, 1], f32[-A + x_0]) {
    guard le(x_0, A + 21) "dim 0 of input 'x' must be A + 3*C"
    guard le(A + 6, x_0) "dim 0 of input 'x' must be A + 3*C"
    guard eq(A - 3*ceil((A - x_0) / 3), x_0) "dim 0 of input 'x' must be A + 3*C"
    %0 = reshape %y {to = [A, 1]} : f32[A, 1]
    %1 = slice %x {starts = [A], sizes = [-A + x_0]} : f32[-A + x_0]
    ret %0, %1
  }
}
# ---- solve_extents_kept ----
# solve_extents: an input that has the extent itself decides; nothing changes.
# run: solve_extents
module @m {
  graph @main(%x: f32[2*B, 4], %n: i64[B], %y: f32[floor(B / 3)]) -> (f32[B, 8]) {
    %0 = reshape %x {to = [B, 8]} : f32[B, 8]
    ret %0
  }
}
# expect:
module @m {
  graph @main(%x: f32[2*B, 4], %n: i64[B], %y: f32[floor(B / 3)]) -> (f32[B, 8]) {
    %0 = reshape %x {to = [B, 8]} : f32[B, 8]
    ret %0
  }
}
# ---- unify ----
# unify: what entry guards equate becomes one symbol; what is no input's dim keeps its guard.
# run: unify
module @m {
  graph @main(%x: f32[B, 13], %off: i64[B_1], %c: f32[K]) -> (f32[B, 13], i64[B_1], f32[K]) {
    guard eq(B, B_1) "x and off disagree on the batch"
    guard eq(K, 8)
    guard eq(B, 2*K)
    ret %x, %off, %c
  }
}
# expect:
module @m {
  graph @main(%x: f32[16, 13], %off: i64[16], %c: f32[8]) -> (f32[16, 13], i64[16], f32[8]) {
    ret %x, %off, %c
  }
}
# ---- unify_binds ----
# unify: an extent that is a multiple is known to be one; of two binds of one value the first is left.
# run: unify
module @m {
  graph @main(%x: f32[L], %s: i64[1]) -> (f32[min(L, n)], f32[min(L, n2)], f32[floor(L / 6)]) {
    guard eq(L, 2*floor(L / 2)) "pairs"
    guard eq(12*floor(L / 3), 4*L) "of three"
    bind %s {symbols = [n]}
    bind %s {symbols = [n2]}
    %0 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %1 = slice %x {starts = [0], sizes = [min(L, n2)]} : f32[min(L, n2)]
    %2 = slice %x {starts = [0], sizes = [floor(L / 6)]} : f32[floor(L / 6)]
    ret %0, %1, %2
  }
}
# expect:
module @m {
  symbol L {multiple = 6}
  graph @main(%x: f32[L], %s: i64[1]) -> (f32[min(L, n)], f32[min(L, n)], f32[exact(L / 6)]) {
    bind %s {symbols = [n]}
    %0 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %1 = slice %x {starts = [0], sizes = [min(L, n)]} : f32[min(L, n)]
    %2 = slice %x {starts = [0], sizes = [exact(L / 6)]} : f32[exact(L / 6)]
    ret %0, %1, %2
  }
}
# ---- unify_facts ----
# unify: one symbol in place of two has what is known of both.
# run: unify
module @m {
  symbol A {min = 1, max = 90}
  symbol B {max = 60}
  symbol C {min = 2, max = 70}
  graph @main(%x: f32[A], %y: f32[B], %z: f32[C]) -> (f32[A], f32[B], f32[C]) {
    guard eq(A, B)
    guard eq(C, B)
    ret %x, %y, %z
  }
}
# expect:
module @m {
  symbol A {min = 2, max = 60}
  graph @main(%x: f32[A], %y: f32[A], %z: f32[A]) -> (f32[A], f32[A], f32[A]) {
    ret %x, %y, %z
  }
}
# ---- unify_range ----
# unify: a symbol never becomes a number that it may not be: the guard is left, which the run reports.
# run: unify
# not run: its guards contradict what its symbols may be
module @m {
  symbol A {max = 7}
  symbol B {min = 3}
  symbol C {multiple = 4}
  symbol D {min = 2, max = 9}
  graph @above(%x: f32[A]) -> (f32[A]) {
    guard eq(A, 8)
    ret %x
  }
  graph @below(%x: f32[B]) -> (f32[B]) {
    guard eq(B, 2)
    ret %x
  }
  graph @between(%x: f32[C]) -> (f32[C]) {
    guard eq(C, 6)
    ret %x
  }
  graph @within(%x: f32[D]) -> (f32[D]) {
    guard eq(D, 9)
    ret %x
  }
}
# expect:
module @m {
  symbol A {max = 7}
  symbol B {min = 3}
  symbol C {multiple = 4}
  graph @above(%x: f32[A]) -> (f32[A]) {
    guard eq(A, 8)
    ret %x
  }
  graph @below(%x: f32[B]) -> (f32[B]) {
    guard eq(B, 2)
    ret %x
  }
  graph @between(%x: f32[C]) -> (f32[C]) {
    guard eq(C, 6)
    ret %x
  }
  graph @within(%x: f32[9]) -> (f32[9]) {
    ret %x
  }
}
# ---- unify_sums ----
# unify: an extent that is another one and a number is written so, and one that is at least a number is known to be; a maximum is no sum.
# run: unify
module @m {
  graph @main(%off: i64[C], %x: f32[B, 2], %y: f32[D], %z: f32[max(0, E - 1)], %e: f32[E]) -> (i64[C], f32[B, 2], f32[D], f32[max(0, E - 1)]) {
    guard eq(C - 1, B) "offsets of the batch"
    guard eq(2*D, B) "twice as many"
    guard eq(max(0, B - 4), D) "no sum"
    guard le(1, E) "at least one"
    ret %off, %x, %y, %z
  }
}
# expect:
module @m {
  symbol E {min = 1}
  graph @main(
      %off: i64[2*D + 1],
      %x: f32[2*D, 2],
      %y: f32[D],
      %z: f32[E - 1],
      %e: f32[E]) -> (i64[2*D + 1], f32[2*D, 2], f32[D], f32[E - 1]) {
    guard eq(max(0, 2*D - 4), D) "no sum"
    ret %off, %x, %y, %z
  }
}
# ---- guards_of_rows ----
# add_guards: a body of rows yields rows, not the op's results.
# run: add_guards
module @m {
  graph @main(%w: f32[100, 4], %v: f32[R, 4], %ids: i64[N], %ids2: i64[K], %dy: f32[B, 4], %in: i64[N], %in2: i64[K]) -> (f32[100, 4], f32[R, 4]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5 = bag_update %w, %0, %1, %dy, %in, %v, %2, %3, %dy, %in2 {tables = 2, bags} (%6: f32[1, 4], %7: f32[1, 4]) {
      %8 = sub %6, %7 : f32[1, 4]
      yield %8
    } : f32[100, 4], f32[R, 4]
    ret %4, %5
  }
}
# expect:
module @m {
  graph @main(
      %w: f32[100, 4],
      %v: f32[R, 4],
      %ids: i64[N],
      %ids2: i64[K],
      %dy: f32[B, 4],
      %in: i64[N],
      %in2: i64[K]) -> (f32[100, 4], f32[R, 4]) {
    %0, %1, %2, %3 = bag_group %ids, %ids2 {rows = [100, R]} : i64[N], i64[N], i64[K], i64[K]
    %4, %5 = bag_update %w, %0, %1, %dy, %in, %v, %2, %3, %dy, %in2 {tables = 2, bags} : f32[100, 4], f32[R, 4] (%6: f32[1, 4], %7: f32[1, 4]) {
      %8 = sub %6, %7 : f32[1, 4]
      yield %8
    }
    ret %4, %5
  }
}
