"""Embedding bags as ONNX Runtime and torch run them.

SPDX-License-Identifier: Apache-2.0

ONNX Runtime has no bag: exporters write Gather and ReduceSum a table, and a Concat of
all.  The model borrows its tables from the file that the other engines read.  torch runs
its own operator, called from Python as its users call it; a session of ONNX Runtime has
its inputs and outputs bound before.
"""

import numpy as np


def write_gather_model(tables):
    """The path of an ONNX model that pools f32 tables over ids [batch, length]."""
    from onnx import TensorProto, helper, save

    nodes, ins, constants, offset = [], [], [], 0
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    for i, (rows, length) in enumerate(zip(tables.rows, tables.lengths)):
        shape = ["B", length]
        ins.append(helper.make_tensor_value_info(f"ids{i}", TensorProto.INT64, shape))
        size = rows * tables.row_bytes
        constants.append(borrowed(f"t{i}", [rows, tables.dim], offset, size))
        offset += size
        nodes.append(helper.make_node("Gather", [f"t{i}", f"ids{i}"], [f"g{i}"]))
        sum_ins = [f"g{i}", "axes"]
        nodes.append(helper.make_node("ReduceSum", sum_ins, [f"s{i}"], keepdims=0))
    pooled = [f"s{i}" for i in range(len(tables.rows))]
    nodes.append(helper.make_node("Concat", pooled, ["y"], axis=1))
    shape = ["B", len(tables.rows) * tables.dim]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "bags", ins, outs, [*constants, axes])
    opset = [helper.make_opsetid("", 17)]
    path = tables.folder / "model.onnx"
    save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    return path


def borrowed(name, dims, offset, size):
    from onnx import TensorProto

    tensor = TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    facts = {"location": "tables.bin", "offset": offset, "length": size}
    for key, value in facts.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


class OrtEngine:
    name = "onnxruntime"

    def __init__(self, tables, threads):
        import onnxruntime as ort

        ort.set_default_logger_severity(3)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        path = str(write_gather_model(tables))
        providers = ["CPUExecutionProvider"]
        self.session = ort.InferenceSession(path, options, providers=providers)

    def prepare(self, tables):
        shape = tables.batch, len(tables.rows) * tables.dim
        self.out = np.zeros(shape, "f4")
        self.bindings = [self.bind(tables, arrays) for arrays in tables.inputs]
        self.kept = tables.inputs

    def bind(self, tables, arrays):
        binding, out = self.session.io_binding(), self.out
        for i, length in enumerate(tables.lengths):
            ids = arrays[tables.operands * i]
            shape = [tables.batch, length]
            binding.bind_input(f"ids{i}", "cpu", 0, "int64", shape, ids.ctypes.data)
        binding.bind_output("y", "cpu", 0, "float32", out.shape, out.ctypes.data)
        return binding

    def run(self, index):
        self.session.run_with_iobinding(self.bindings[index])

    def output(self):
        return self.out


class TorchEngine:
    """One table: embedding_bag, or its rowwise form for int8."""

    name = "torch"

    def __init__(self, tables, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        rows, kind = tables.rows[0], {"f32": "f4", "f16": "f2", "int8": "u1"}
        columns = tables.row_bytes if tables.dtype == "int8" else tables.dim
        data = np.fromfile(tables.path, kind[tables.dtype]).reshape(rows, columns)
        self.table, self.is_rowwise = torch.from_numpy(data), tables.dtype == "int8"
        self.mode = "mean" if tables.shape.mean else "sum"

    def prepare(self, tables):
        from_numpy = self.torch.from_numpy
        self.calls = [[from_numpy(a) for a in arrays] for arrays in tables.inputs]
        for call in self.calls if not self.is_rowwise else []:
            call[2:] = [weights.to(self.table.dtype) for weights in call[2:]]

    def run(self, index):
        ids, offsets, *weights = self.calls[index]
        weights = weights[0] if weights else None
        with self.torch.inference_mode():
            if self.is_rowwise:
                run = self.torch.ops.quantized.embedding_bag_byte_rowwise_offsets
                self.result = run(
                    self.table,
                    ids,
                    offsets,
                    per_sample_weights=weights,
                    include_last_offset=True,
                )
                return
            self.result = self.torch.nn.functional.embedding_bag(
                ids,
                self.table,
                offsets,
                mode=self.mode,
                per_sample_weights=weights,
                include_last_offset=True,
            )

    def output(self):
        return self.result.numpy()
