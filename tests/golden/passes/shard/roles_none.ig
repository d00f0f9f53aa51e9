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
