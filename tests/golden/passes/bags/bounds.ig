# A check of bounds goes into the bag of its tables; a sum that gives offsets does not fall.
# run: bounds,dce
# not run: B is no extent of an input
module @m {
  table @a : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  table @b : i8<rowwise f16>[2, 2] = inline(0x003c00000102003c00000102)
  graph @main(%ids: i64[N], %lengths: i64[2*B]) -> (f32[B, 2], f32[B, 2]) {
    %rows = const {value = i64[2] [4, 2]}
    %off = cumsum %lengths {axis = 0, complete = true} : i64[2*B + 1]
    %i, %o, %n = bounds %ids, %off, %rows {range = first} : i64[N], i64[2*B + 1], i64[1]
    %o0 = slice %o {starts = [0], sizes = [B + 1], steps = [1]} : i64[B + 1]
    %o1 = slice %o {starts = [B], sizes = [B + 1], steps = [1]} : i64[B + 1]
    %0, %1 = bag @a, %i, %o0, @b, %i, %o1 {operands = [1, 1], pool = [sum, sum], last = [offset, offset], negative = skip} : f32[B, 2], f32[B, 2]
    ret %0, %1
  }
}
# expect:
module @m {
  table @a : i8<rowwise f16>[4, 2] = inline(0x003c00000102003c00000102003c00000102003c00000102)
  table @b : i8<rowwise f16>[2, 2] = inline(0x003c00000102003c00000102)
  graph @main(%ids: i64[N], %lengths: i64[2*B]) -> (f32[B, 2], f32[B, 2]) {
    %0 = cumsum %lengths {axis = 0, complete, rising} : i64[2*B + 1]
    %1 = slice %0 {starts = [0], sizes = [B + 1], steps = [1]} : i64[B + 1]
    %2 = slice %0 {starts = [B], sizes = [B]} : i64[B]
    %3, %4 = bag @a, %ids, %1, @b, %ids, %2 {operands = [1, 1], pool = [sum, sum], last = [offset, ids], negative = skip, range = first, offsets = clamp} : f32[B, 2], f32[B, 2]
    ret %3, %4
  }
}
