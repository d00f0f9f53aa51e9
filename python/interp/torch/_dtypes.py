"""Element types.

SPDX-License-Identifier: Apache-2.0
"""


class dtype:  # noqa: N801 - torch's name
    """`code` is torch's number of the type, `text` Ingot's name, `letter` that of struct (None:
    the memory of such tensors is seen as bytes), `size` in bytes."""

    def __init__(self, name, code, text, letter, size, is_real=False):
        self.name, self.code, self.text, self.letter = name, code, text, letter
        self.itemsize, self.is_floating_point = size, is_real
        self.is_complex = False

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):
        return "_dtype_" + self.name


ALL = (
    dtype("uint8", 0, "u8", "B", 1),
    dtype("int8", 1, "i8", "b", 1),
    dtype("int16", 2, "i16", "h", 2),
    dtype("int32", 3, "i32", "i", 4),
    dtype("int64", 4, "i64", "q", 8),
    dtype("float16", 5, "f16", None, 2, True),
    dtype("float32", 6, "f32", "f", 4, True),
    dtype("float64", 7, "f64", "d", 8, True),
    dtype("bool", 11, "bool", "?", 1),
    dtype("bfloat16", 15, "bf16", None, 2, True),
)
BY_CODE = {d.code: d for d in ALL}
BY_TEXT = {d.text: d for d in ALL}
BY_NAME = {d.name: d for d in ALL}
globals().update(("_dtype_" + d.name, d) for d in ALL)

ALIASES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64",
           "int": "int32", "short": "int16"}
STORAGES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16",
            "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
            "Bool": "bool"}
