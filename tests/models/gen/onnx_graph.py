"""Builds ONNX models with nothing but protobuf classes made from our own onnx.proto.

SPDX-License-Identifier: Apache-2.0

A Builder holds one graph under construction.  Builders of subgraphs and functions share
the root's counter, so every value of a model has a name of its own.
"""

import importlib.util
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PROTO = pathlib.Path(__file__).resolve().parents[3] / "frontend" / "onnx" / "read" / "onnx.proto"
ELEMENT_TYPES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9}
FLOAT, INT, STRING, TENSOR, GRAPH, FLOATS, INTS = 1, 2, 3, 4, 5, 6, 7


def load_schema(proto=PROTO):
    """The Python module that protoc makes from onnx.proto."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                "protoc",
                f"--proto_path={proto.parent}",
                f"--python_out={folder}",
                proto.name,
            ],
            check=True,
        )
        path = next(pathlib.Path(folder).glob("*_pb2.py"))
        spec = importlib.util.spec_from_file_location("onnx_schema", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["onnx_schema"] = module
        spec.loader.exec_module(module)
    return module


def fill_tensor(tensor, array, name=""):
    array = np.asarray(array)
    tensor.name = name
    tensor.dims.extend(array.shape)
    tensor.data_type = ELEMENT_TYPES[array.dtype.name]
    tensor.raw_data = array.tobytes()
    return tensor


def fill_value_info(info, name, dtype, dims):
    """Declares a tensor value; a dim is a number or a symbol's name."""
    info.name = name
    tensor_type = info.type.tensor_type
    tensor_type.elem_type = ELEMENT_TYPES[dtype]
    tensor_type.shape.SetInParent()
    for dim in dims:
        entry = tensor_type.shape.dim.add()
        if isinstance(dim, str):
            entry.dim_param = dim
        else:
            entry.dim_value = dim


class FromCaller:
    """An attribute's value inside a function: the caller's attribute of this name."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind


class Builder:
    def __init__(self, schema, opset, graph, names):
        self.schema, self.opset, self.graph, self.names = schema, opset, graph, names

    def fresh(self, hint):
        return f"{hint}_{next(self.names)}"

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        """Appends a node; returns its output's name, or a list of them."""
        node = self.graph.node.add(op_type=op, domain=domain)
        node.name = self.fresh("node_" + op)
        node.input.extend(inputs)
        results = [self.fresh(op.lower()) for _ in range(outputs)]
        node.output.extend(results)
        for name in sorted(attributes):
            self.add_attribute(node, name, attributes[name])
        return results[0] if outputs == 1 else results

    def add_attribute(self, node, name, value):
        attribute = node.attribute.add(name=name)
        if isinstance(value, FromCaller):
            attribute.ref_attr_name, attribute.type = value.name, value.kind
        elif isinstance(value, Builder):
            attribute.g.CopyFrom(value.graph)
            attribute.type = GRAPH
        elif isinstance(value, np.ndarray):
            fill_tensor(attribute.t, value)
            attribute.type = TENSOR
        elif isinstance(value, list):
            is_float = isinstance(value[0], float)
            (attribute.floats if is_float else attribute.ints).extend(value)
            attribute.type = FLOATS if is_float else INTS
        else:
            attribute.i, attribute.type = value, INT

    def constant(self, value, dtype="int64"):
        if self.opset < 9:  # Constant knew floats only
            return self.initializer(value, dtype)
        return self.node("Constant", [], value=np.array(value, dtype))

    def initializer(self, value, dtype="int64", hint="const"):
        name = self.fresh(hint)
        fill_tensor(self.graph.initializer.add(), np.array(value, dtype), name)
        return name

    def subgraph(self, name):
        graph = self.schema.GraphProto(name=name)
        return Builder(self.schema, self.opset, graph, self.names)

    def input(self, name, dtype, dims):
        fill_value_info(self.graph.input.add(), name, dtype, dims)
        return name

    def loose_input(self, hint):
        """An input without a type, as the dynamo exporter declares sequences."""
        name = self.fresh(hint)
        self.graph.input.add(name=name)
        return name

    def output(self, name, dtype, dims):
        fill_value_info(self.graph.output.add(), name, dtype, dims)

    def loose_output(self, name):
        """An output without a type, unless it is an initializer, which has one."""
        for tensor in self.graph.initializer:
            if tensor.name == name:
                self.output(name, "float32", list(tensor.dims))
                return
        self.graph.output.add(name=name)

    # Ops whose signature depends on the opset.

    def axes_node(self, op, value, axes, since, **attributes):
        """A node whose axes moved from an attribute to an input at opset `since`."""
        if self.opset >= since:
            return self.node(op, [value, self.constant(axes)], **attributes)
        return self.node(op, [value], axes=axes, **attributes)

    def unsqueeze(self, value, axes):
        return self.axes_node("Unsqueeze", value, axes, since=13)

    def squeeze(self, value, axes):
        return self.axes_node("Squeeze", value, axes, since=13)

    def reduce(self, mode, value, axis, keepdims=0):
        op = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax"}[mode]
        since = 13 if mode == "sum" else 18
        extra = {"noop_with_empty_axes": 0} if self.opset >= since else {}
        return self.axes_node(
            op, value, [axis], since=since, keepdims=keepdims, **extra
        )


def new_model(schema, opset):
    """An empty model and the Builder of its graph."""
    ir_version = 5 if opset < 11 else 7 if opset < 15 else 8 if opset < 19 else 10
    model = schema.ModelProto(ir_version=ir_version, producer_name="forms")
    model.opset_import.add(domain="", version=opset)
    model.graph.name = "main_graph"
    return model, Builder(schema, opset, model.graph, itertools.count())
