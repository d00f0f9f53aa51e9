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
