"""Small models as IR text.

SPDX-License-Identifier: Apache-2.0
"""
ADD = b"""module @add {
  graph @main(%x: f32[B, 3], %y: f32[B, 3]) -> (f32[B, 3] "sum") {
    %0 = add %x, %y : f32[B, 3]
    ret %0
  }
}"""

# Two results of one argument, one of them of another type.
FIXED = b"""module @fixed {
  graph @main(%x: f32[2, 3]) -> (f32[2, 3], f32[3, 2]) {
    %0 = const {value = 1} : f32[]
    %1 = add %x, %0 : f32[2, 3]
    %2 = transpose %1 {perm = [1, 0]} : f32[3, 2]
    ret %1, %2
  }
}
"""

# A convolution of 3 x 3 taps, 32 channels, zeros around; {weights} are its numbers.
CONV = """module @conv {{
  weight @w : f32[32, 32, 3, 3] = [{weights}]
  graph @main(%x: f32[B, 32, H, W]) -> (f32[B, 32, H, W] "y") {{
    %0 = conv %x, @w {{before = [1, 1], after = [1, 1]}} : f32[B, 32, H, W]
    ret %0
  }}
}}"""

PAIR = b"""module @pair {
  graph @main(%x: f32[N]) -> (f32[N] "double", i64[N] "whole") as forward(x: tensor) -> {"a": tensor, "b": [tensor, 3, none]} {
    %0 = add %x, %x : f32[N]
    %1 = cast %x {to = i64} : i64[N]
    ret %0, %1
  }
}"""

# A result of every kind: named tuples of two classes, tuple, list, dict, text, complex.
KINDS = b"""module @kinds {
  graph @main(%x: f32[N]) -> (f32[N] "double", f32[N] "twice", f32[N] "again", f32[N] "more") as forward(x: tensor) -> (Point(x=tensor, y=1.5), {"a": Other(z=tensor)}, [tensor, "text", none], (tensor, true, complex(1.5, -2.0))) {
    %0 = add %x, %x : f32[N]
    ret %0, %0, %0, %0
  }
}"""

# A result that stands in the memory of an argument.
IN_PLACE = b"""module @in_place {
  graph @main(%table: f32[3], %d: f32[3]) -> (f32[3] "next") {
    %0 = add %table, %d : f32[3]
    ret %0 {in_place = [0]}
  }
}"""

# Counts its calls.
STATE = b"""module @state {
  weight @count : i64[] = [0]
  graph @main(%x: f32[3], %count: i64[] = @count) -> (f32[3] "y", i64[] "n", i64[] "count")
      as forward(x: tensor) -> (tensor, tensor) {
    %0 = const {value = 1} : i64[]
    %1 = add %count, %0 : i64[]
    %2 = cast %1 {to = f32} : f32[]
    %3 = add %x, %2 : f32[3]
    ret %3, %1, %1
  }
}"""


def copy_of(dtype):
    """A model that gives its input of that type back."""
    return f"""module @copy {{
  graph @main(%x: {dtype}[A, B]) -> ({dtype}[B, A] "y") {{
    %0 = transpose %x {{perm = [1, 0]}} : {dtype}[B, A]
    ret %0
  }}
}}""".encode()


RELU = b"""module @relu {
  graph @main(%x: f32[B, 16]) -> (f32[B, 16] "y") {
    %0 = relu %x : f32[B, 16]
    ret %0
  }
}"""


def flat_copy_of(dtype):
    return f"""module @copy {{
  graph @main(%x: {dtype}[N]) -> ({dtype}[N] "y") {{
    ret %x
  }}
}}""".encode()
