"""Nested arguments and results of TorchScript cases: values.json beside its tensors.

SPDX-License-Identifier: Apache-2.0
"""

import enum
import json

import numpy as np
import torch


def class_of(value):
    """The class's name; results of scripted calls are objects of script classes."""
    type_of = getattr(value, "_type", None)
    return str(type_of()).split(".")[-1] if callable(type_of) else type(value).__name__


def jagged_node(value, node):
    """Of TorchRec's three containers, or None."""
    kind = class_of(value)
    if kind == "KeyedJaggedTensor":
        return {"kjt": {"keys": list(value.keys()), "values": node(value.values()),
                        "lengths": node(value.lengths()),
                        "weights": node(value.weights_or_none())}}
    if kind == "KeyedTensor":
        return {"kt": {"keys": list(value.keys()),
                       "length_per_key": list(value.length_per_key()),
                       "values": node(value.values())}}
    if kind == "JaggedTensor":
        return {"jt": {"values": node(value.values()), "lengths": node(value.lengths()),
                       "weights": node(value.weights_or_none())}}
    return None


def scalar_node(value):
    if value is None:
        return {"none": True}
    if isinstance(value, enum.Enum):
        return {"enum": value.name, "value": value.value}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return {kind.__name__: value}
    return None


def node_of(value, tensors):
    """The node of values.json; tensors are appended to the list."""

    def part(item):
        return None if item is None else node_of(item, tensors)

    if isinstance(value, torch.Tensor):
        tensors.append(value.detach().resolve_conj().clone())
        return {"tensor": len(tensors) - 1, "dtype": str(value.dtype)[6:],
                "shape": list(value.shape)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"namedtuple": [[key, node_of(item, tensors)]
                               for key, item in zip(value._fields, value)]}
    if isinstance(value, (tuple, list)):
        name = "tuple" if isinstance(value, tuple) else "list"
        return {name: [node_of(item, tensors) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[key, node_of(item, tensors)] for key, item in value.items()]}
    node = scalar_node(value) or jagged_node(value, part)
    if node is None:
        raise TypeError(type(value))
    return node


def write_set(folder, arguments, result, method="forward"):
    folder.mkdir(parents=True)
    inputs, outputs = [], []
    values = {"method": method, "args": [node_of(item, inputs) for item in arguments],
              "result": node_of(result, outputs)}
    (folder / "values.json").write_text(json.dumps(values))
    for name, tensors in (("input", inputs), ("output", outputs)):
        for index, tensor in enumerate(tensors):
            np.save(folder / f"{name}_{index}.npy", tensor.contiguous().numpy())
