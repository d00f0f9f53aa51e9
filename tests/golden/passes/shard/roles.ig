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
