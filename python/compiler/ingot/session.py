"""Sessions with ONNX Runtime's names, so that changing the import is enough.

SPDX-License-Identifier: Apache-2.0
"""
import os

from . import _compiler
from .program import compile as compile_model
from .program import load

# What ONNX Runtime calls element types.
TYPE_NAMES = {"f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16",
              "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16",
              "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "str": "string"}


def value_type(dtype):
    """"tensor(float)" of "f32"."""
    return f"tensor({TYPE_NAMES.get(dtype, dtype)})"


def maps_type(keys):
    """The type of a list of dicts with these keys."""
    key = "string" if any(isinstance(key, str) for key in keys) else "int64"
    return f"seq(map({key},tensor(float)))"


def split_extents(text):
    """["B", "bcast(B, 2)"] of "f32[B, bcast(B, 2)]"."""
    parts, depth = [""], 0
    for c in text[text.index("[") + 1:-1]:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


class NodeArg:
    """An input or output: name, shape (open extents by their names), type.

    `keys`: of the dicts that it is a list of."""

    def __init__(self, port, keys=None):
        self.name, text, dtype, shape = port
        if keys is not None:
            self.type, self.shape = maps_type(keys), []
            return
        self.type = value_type(dtype)
        names = split_extents(text)
        self.shape = [name if extent is None else extent
                      for name, extent in zip(names, shape)]

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class Session:
    """A model to be called by the names of its inputs.

    Safe to be used by several threads at once; outputs belong to the caller.
    """

    def __init__(self, model, *, threads=1, **options):
        is_artifact = isinstance(model, (str, os.PathLike)) and \
            _compiler.model_format(os.fspath(model)) == "artifact"
        make = load if is_artifact else compile_model
        self.program = make(model, threads=threads, **options)
        self._inputs = [NodeArg(port) for port in self.program.inputs]
        self._outputs = [NodeArg(port, keys) for port, keys in
                         zip(self.program.outputs, self.program.maps, strict=True)]
        self._places = {arg.name: i for i, arg in enumerate(self._outputs)}

    def get_inputs(self):
        return self._inputs

    def get_outputs(self):
        return self._outputs

    def run(self, output_names, feed):
        """Outputs of these names (None: all), as a list of numpy's arrays; those of ZipMap
        are lists of dicts."""
        outputs = self.program.run(feed)
        if output_names is None:
            return outputs
        try:
            return [outputs[self._places[name]] for name in output_names]
        except KeyError as error:
            raise ValueError(f"there is no output {error}; there are "
                             f"{', '.join(self._places)}") from None
