# ---- abs_of_abs ----
# abs_of_abs: abs(abs(x)) is abs(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = abs %x
    %1 = abs %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = abs %x : f32[B]
    ret %0
  }
}
# ---- abs_of_neg ----
# abs_of_neg: abs(neg(x)) is abs(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = neg %x
    %1 = abs %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = abs %x : f32[B]
    ret %0
  }
}
# ---- add_of_zero ----
# add_of_zero: x + 0 is x; of floats only x + -0 is, because -0 + 0 is 0.
# run: canonicalise
module @m {
  weight @wide : f32[1, 4] = splat(-0)
  weight @row : f32[4] = [-0, -0, -0, -0]
  graph @main(%x: f32[B, 4], %i: i64[B], %y: f32[4]) -> (f32[B, 4], i64[B], f32[B, 4], f32[1, 4], f32[B, 4]) {
    %0 = const {value = -0.0} : f32[]
    %1 = add %x, %0
    %2 = const {value = 0} : i64[]
    %3 = add %2, %i
    %4 = const {value = 0.0} : f32[]
    %5 = add %x, %4
    %6 = add %y, @wide
    %7 = add @row, %x
    ret %1, %3, %5, %6, %7
  }
}
# expect:
module @m {
  weight @wide : f32[1, 4] = splat(-0)
  weight @row : f32[4] = [-0, -0, -0, -0]
  graph @main(%x: f32[B, 4], %i: i64[B], %y: f32[4]) -> (f32[B, 4], i64[B], f32[B, 4], f32[1, 4], f32[B, 4]) {
    %0 = const {value = 0} : f32[]
    %1 = add %x, %0 : f32[B, 4]
    %2 = add %y, @wide : f32[1, 4]
    ret %x, %i, %1, %2, %x
  }
}
# ---- div_by_one ----
# div_by_one: x / 1 is x.
# run: canonicalise
module @m {
  graph @main(%x: i32[B]) -> (i32[B], i32[B]) {
    %0 = const {value = 1} : i32[]
    %1 = div %x, %0
    %2 = div %0, %x
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: i32[B]) -> (i32[B], i32[B]) {
    %0 = const {value = 1} : i32[]
    %1 = div %0, %x : i32[B]
    ret %x, %1
  }
}
# ---- expand_after_elementwise ----
# expand_after_elementwise: what is the same for every element is computed once and expanded.
# The last add has an operand of several elements, so nothing is the same for all.
# run: canonicalise
module @m {
  graph @main(%x: i64[B], %y: i64[], %z: i64[1]) -> (i64[B], i64[B], i64[B], i64[B]) {
    %0 = expand %y {to = [B]}
    %1 = mul %0, %z
    %2 = expand %z {to = [B]}
    %3 = max %2, %0
    %4 = neg %0
    %5 = add %0, %x
    ret %1, %3, %4, %5
  }
}
# expect:
module @m {
  graph @main(%x: i64[B], %y: i64[], %z: i64[1]) -> (i64[B], i64[B], i64[B], i64[B]) {
    %0 = mul %y, %z : i64[1]
    %1 = expand %0 {to = [B]} : i64[B]
    %2 = max %z, %y : i64[1]
    %3 = expand %2 {to = [B]} : i64[B]
    %4 = neg %y : i64[]
    %5 = expand %4 {to = [B]} : i64[B]
    %6 = add %y, %x : i64[B]
    ret %1, %3, %5, %6
  }
}
# ---- expand_into_elementwise ----
# expand_into_elementwise: an operand need not be expanded where the op broadcasts by itself.
# The second add needs an expand, since no other operand has the extent 7.
# run: canonicalise
module @m {
  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[7, 1]) -> (f32[B, 7], f32[7, 3]) {
    %0 = expand %y {to = [B, 7]}
    %1 = add %0, %x
    %2 = expand %z {to = [7, 3]}
    %3 = add %2, %2
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[7, 1]) -> (f32[B, 7], f32[7, 3]) {
    %0 = add %y, %x : f32[B, 7]
    %1 = expand %z {to = [7, 3]} : f32[7, 3]
    %2 = add %z, %1 : f32[7, 3]
    ret %0, %2
  }
}
# ---- if_known_extent ----
# canonicalise: an if goes although the value that stands for it has an extent of its own.
# run: canonicalise
module @m {
  graph @main(%x: f32[N], %at: i64[1]) -> (f32[k]) {
    %no = const {value = false} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = if %no : f32[k] {
      %1 = slice %x, %one, %at : f32[a]
      yield %1
    } else {
      %2 = slice %x, %at, %one : f32[b]
      yield %2
    }
    %3 = relu %0 : f32[k]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %at: i64[1]) -> (f32[b]) {
    %0 = const {value = [1]} : i64[1]
    %1 = slice %x, %at, %0 : f32[b]
    %2 = relu %1 : f32[b]
    ret %2
  }
}
# ---- matmul_of_one_term ----
# matmul_of_one_term: [M, 1] @ [1, N] is a product of elements, also over a batch; with more
# terms, or transposed, it stays.  Sums of floats begin with 0, so -0 becomes 0.
# run: canonicalise
# within: 1e-9 a negative product that is too small for f32 becomes 0, not -0
module @m {
  graph @main(%x: f32[B, 3, 1], %y: f32[1, 4], %z: f32[2, 4], %i: i32[2, 1], %j: i32[1, 2]) -> (f32[B, 3, 4], f32[4, 4], i32[2, 2]) {
    %0 = matmul %x, %y
    %1 = matmul %z, %z {transpose_a}
    %2 = matmul %i, %j
    ret %0, %1, %2
  }
}
# expect:
module @m {
  graph @main(
      %x: f32[B, 3, 1],
      %y: f32[1, 4],
      %z: f32[2, 4],
      %i: i32[2, 1],
      %j: i32[1, 2]) -> (f32[B, 3, 4], f32[4, 4], i32[2, 2]) {
    %0 = mul %x, %y : f32[B, 3, 4]
    %1 = const {value = 0} : f32[]
    %2 = add %0, %1 : f32[B, 3, 4]
    %3 = matmul %z, %z {transpose_a} : f32[4, 4]
    %4 = mul %i, %j : i32[2, 2]
    ret %2, %3, %4
  }
}
# ---- mul_by_one ----
# mul_by_one: x * 1 is x where 1 does not make the result larger, also where 1 was expanded.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[], %z: f32[B, 4]) -> (f32[B], f32[1], f32[B], f32[B, 4]) {
    %0 = const {value = 1.0} : f32[]
    %1 = mul %x, %0
    %2 = const {value = [1.0]} : f32[1]
    %3 = mul %2, %y
    %4 = mul %0, %x
    %5 = expand %0 {to = [B]}
    %6 = reshape %5 {to = [B, 1]}
    %7 = mul %z, %6
    ret %1, %3, %4, %7
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[], %z: f32[B, 4]) -> (f32[B], f32[1], f32[B], f32[B, 4]) {
    %0 = const {value = [1]} : f32[1]
    %1 = mul %0, %y : f32[1]
    ret %x, %1, %x, %z
  }
}
# ---- neg_of_neg ----
# neg_of_neg: neg(neg(x)) is x.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = neg %x
    %1 = neg %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    ret %x
  }
}
# ---- not_of_not ----
# not_of_not: not(not(x)) is x.
# run: canonicalise
module @m {
  graph @main(%x: bool[B]) -> (bool[B]) {
    %0 = not %x
    %1 = not %0
    ret %1
  }
}
# expect:
module @m {
  graph @main(%x: bool[B]) -> (bool[B]) {
    ret %x
  }
}
# ---- partly_neutral ----
# add_of_zero, mul_by_one and their like: a list is neutral when all of it is, not its first element.
# run: canonicalise
module @m {
  weight @add : f32[3] = [-0, 1, 2]
  weight @mul : f32[3] = [1, 2, 3]
  weight @sub : f32[3] = [0, 1, 2]
  weight @which : bool[3] = [true, false, true]
  graph @main(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], f32[3], f32[3], f32[3], f32[3]) {
    %0 = add %x, @add
    %1 = mul %x, @mul
    %2 = sub %x, @sub
    %3 = div %x, @mul
    %4 = pow %x, @mul
    %5 = where @which, %x, %y
    ret %0, %1, %2, %3, %4, %5
  }
}
# expect:
module @m {
  weight @add : f32[3] = [-0, 1, 2]
  weight @mul : f32[3] = [1, 2, 3]
  weight @sub : f32[3] = [0, 1, 2]
  weight @which : bool[3] = [true, false, true]
  graph @main(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], f32[3], f32[3], f32[3], f32[3]) {
    %0 = add %x, @add : f32[3]
    %1 = mul %x, @mul : f32[3]
    %2 = sub %x, @sub : f32[3]
    %3 = div %x, @mul : f32[3]
    %4 = pow %x, @mul : f32[3]
    %5 = where @which, %x, %y : f32[3]
    ret %0, %1, %2, %3, %4, %5
  }
}
# ---- pow_of_one ----
# pow_of_one: x to the power of 1 is x, but of an integer to the power of a float.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], i64[B], i64[B]) {
    %0 = const {value = 1.0} : f32[]
    %1 = pow %x, %0
    %2 = const {value = 1} : i64[]
    %3 = pow %y, %2
    %4 = pow %y, %0
    ret %1, %3, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], i64[B], i64[B]) {
    %0 = const {value = 1} : f32[]
    %1 = pow %y, %0 : i64[B]
    ret %x, %y, %1
  }
}
# ---- pow_of_two ----
# pow_of_two: x to the power of 2 is x * x, whatever the dtype of 2 is,
# but of an integer to the power of a float.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], f32[B], i64[B], i64[B]) {
    %0 = const {value = 2.0} : f32[]
    %1 = pow %x, %0
    %2 = const {value = 2} : i64[]
    %3 = pow %x, %2
    %4 = pow %y, %2
    %5 = pow %y, %0
    ret %1, %3, %4, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: i64[B]) -> (f32[B], f32[B], i64[B], i64[B]) {
    %0 = const {value = 2} : f32[]
    %1 = mul %x, %x : f32[B]
    %2 = mul %x, %x : f32[B]
    %3 = mul %y, %y : i64[B]
    %4 = pow %y, %0 : i64[B]
    ret %1, %2, %3, %4
  }
}
# ---- relu_of_relu ----
# relu_of_relu: relu(relu(x)) is relu(x).
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = relu %x
    %1 = relu %0
    %2 = relu %1
    ret %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B]) {
    %0 = relu %x : f32[B]
    ret %0
  }
}
# ---- same_twice ----
# same_twice: min, max, and, or of x and x are x; xor is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %p: bool[B]) -> (f32[B], f32[B], bool[B], bool[B], bool[B]) {
    %0 = min %x, %x
    %1 = max %x, %x
    %2 = and %p, %p
    %3 = or %p, %p
    %4 = xor %p, %p
    ret %0, %1, %2, %3, %4
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %p: bool[B]) -> (f32[B], f32[B], bool[B], bool[B], bool[B]) {
    %0 = xor %p, %p : bool[B]
    ret %x, %x, %p, %p, %0
  }
}
# ---- sub_of_zero ----
# sub_of_zero: x - 0 is x, but 0 - x is not.
# run: canonicalise
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 0.0} : f32[]
    %1 = sub %x, %0
    %2 = sub %0, %x
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main(%x: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = 0} : f32[]
    %1 = sub %0, %x : f32[B]
    ret %x, %1
  }
}
# ---- where_of_same ----
# where_of_same: where(c, x, x) is x, unless c makes it larger.
# run: canonicalise
module @m {
  graph @main(%c: bool[B], %x: f32[B], %y: f32[]) -> (f32[B], f32[B]) {
    %0 = where %c, %x, %x
    %1 = where %c, %y, %y
    ret %0, %1
  }
}
# expect:
module @m {
  graph @main(%c: bool[B], %x: f32[B], %y: f32[]) -> (f32[B], f32[B]) {
    %0 = where %c, %y, %y : f32[B]
    ret %x, %0
  }
}
# ---- where_with_known_condition ----
# where_with_known_condition: of a where whose condition is one value all over one side is left.
# run: canonicalise
module @m {
  graph @main(%x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    %0 = const {value = true} : bool[]
    %1 = where %0, %x, %y
    %2 = const {value = false} : bool[]
    %3 = where %2, %x, %y
    ret %1, %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[B], %y: f32[B]) -> (f32[B], f32[B]) {
    ret %x, %y
  }
}
