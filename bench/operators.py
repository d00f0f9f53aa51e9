#!/usr/bin/env python3
"""Operators, each a model of its own at sizes that are served, against ONNX Runtime.

SPDX-License-Identifier: Apache-2.0

    $python bench/operators.py                      # answers and CPU time of one thread
    $python bench/operators.py --only 'resize*,dft' --rounds 15
    $python bench/operators.py --target cpu:v3      # code of that level

Both engines run in turns, in every round; what counts is the median of the rounds' ratios.
The last line counts operators at 1.0 of ONNX Runtime's speed and those below 0.7; exit
status 1 where fewer than 95 in a hundred reach 1.0 or one is below 0.7.
"""

import argparse
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from exports import open_session
from ingot_runtime import BUILD, Binding, Program

GOOD, GOOD_SHARE, MIN_RATIO = 1.0, 0.95, 0.7
OPSET = 24  # of rows that name none
TYPES = {"f32": "float32", "f16": "float16", "f64": "float64", "i64": "int64", "i32": "int32",
         "i8": "int8", "u8": "uint8", "bool": "bool"}

# name, operator, inputs, attributes.  An input is a type whose elements are drawn:
# dtype[dims](lowest..highest + 1) of integers, dtype[dims]{lowest..highest} of floats,
# dtype[dims]{numbers}.  = before it makes it a constant of the model, - stands for one
# that is absent.
ROWS = [
    # elementwise
    ("add", "Add", "f32[256,1024] f32[256,1024]", {}),
    ("add_bias", "Add", "f32[256,1024] f32[1024]", {}),
    ("mul_channels", "Mul", "f32[1,64,56,56] f32[1,64,1,1]", {}),
    ("div", "Div", "f32[256,1024] f32[256,1024]", {}),
    ("pow_constant", "Pow", "f32[256,1024] =f32[]{2.0}", {}),
    ("sqrt", "Sqrt", "f32[256,1024]", {}),
    ("exp", "Exp", "f32[256,1024]", {}),
    ("log", "Log", "f32[256,1024]", {}),
    ("sin", "Sin", "f32[256,1024]", {}),
    ("tanh", "Tanh", "f32[256,1024]", {}),
    ("sigmoid", "Sigmoid", "f32[256,1024]", {}),
    ("erf", "Erf", "f32[256,1024]", {}),
    ("gelu", "Gelu", "f32[256,1024]", {}),
    ("hard_swish", "HardSwish", "f32[1,64,56,56]", {}),
    ("relu", "Relu", "f32[256,1024]", {}),
    ("leaky_relu", "LeakyRelu", "f32[256,1024]", {}),
    ("elu", "Elu", "f32[256,1024]", {}),
    ("softplus", "Softplus", "f32[256,1024]", {}),
    ("prelu", "PRelu", "f32[1,64,56,56] =f32[64,1,1]", {}),
    ("clip", "Clip", "f32[256,1024] =f32[]{-1.0} =f32[]{1.0}", {}),
    ("floor", "Floor", "f32[256,1024]", {}),
    ("where", "Where", "bool[256,1024] f32[256,1024] f32[256,1024]", {}),
    ("equal_ids", "Equal", "i64[256,1024](0..9) i64[1](0..9)", {}),
    ("greater", "Greater", "f32[256,1024] f32[256,1024]", {}),
    ("mod_ids", "Mod", "i64[65536](0..1000000000) =i64[]{1000003}", {}),
    ("cast_ids", "Cast", "i64[256,1024](0..1000)", {"to": TensorProto.FLOAT}),
    ("cast_f16", "Cast", "f32[256,1024]", {"to": TensorProto.FLOAT16}),
    # movement
    ("transpose", "Transpose", "f32[1024,1024]", {"perm": [1, 0]}),
    ("transpose_heads", "Transpose", "f32[1,128,12,64]", {"perm": [0, 2, 1, 3]}),
    ("to_channels_last", "Transpose", "f32[1,64,56,56]", {"perm": [0, 2, 3, 1]}),
    ("concat_features", "Concat", "f32[1024,64] f32[1024,64] f32[1024,13]", {"axis": 1}),
    ("split", "Split", "f32[256,1024]", {"axis": 1, "num_outputs": 4}),
    ("slice", "Slice", "f32[256,1024] =i64[2]{8,16} =i64[2]{248,1000}", {}),
    ("pad", "Pad", "f32[1,64,56,56] =i64[8]{0,0,1,1,0,0,1,1}", {}),
    ("pad_reflect", "Pad", "f32[1,3,224,224] =i64[8]{0,0,3,3,0,0,3,3}", {"mode": "reflect"}),
    ("expand", "Expand", "f32[1,1,1024] =i64[3]{1,256,1024}", {}),
    ("tile", "Tile", "f32[64,256] =i64[2]{2,4}", {}),
    ("depth_to_space", "DepthToSpace", "f32[1,64,56,56]", {"blocksize": 2}),
    ("space_to_depth", "SpaceToDepth", "f32[1,16,112,112]", {"blocksize": 2}),
    ("trilu", "Trilu", "f32[512,512]", {"upper": 0}),
    ("one_hot", "OneHot", "i64[1024](0..100) =i64[]{100} =f32[2]{0.0,1.0}", {}),
    ("range", "Range", "=i64[]{0} i64[]{65536} =i64[]{1}", {}),
    # indices
    ("gather_rows", "Gather", "=f32[30000,64] i64[1024](0..30000)", {}),
    ("gather_columns", "Gather", "f32[1024,256] =i64[64](0..256)", {"axis": 1}),
    ("gather_elements", "GatherElements", "f32[1024,256] i64[1024,32](0..256)", {"axis": 1}),
    ("gather_nd", "GatherND", "f32[64,128,64] i64[1024,2](0..64)", {}),
    ("scatter_elements", "ScatterElements", "f32[256,256] i64[256,32](0..256) f32[256,32]",
     {"axis": 1}),
    ("scatter_nd", "ScatterND", "f32[4096,64] i64[256,1](0..4096) f32[256,64]", {}),
    ("nonzero", "NonZero", "bool[1000,1000]", {}),
    ("compress", "Compress", "f32[4096,64] bool[4096]", {"axis": 0}),
    ("cumsum_last", "CumSum", "f32[1024,256] =i64[]{1}", {}),
    ("cumsum_first", "CumSum", "f32[4096,256] =i64[]{0}", {}),
    ("cumsum_middle", "CumSum", "f32[16,512,64] =i64[]{1}", {}),
    # reductions
    ("sum_rows", "ReduceSum", "f32[1024,1000] =i64[1]{1}", {}),
    ("sum_columns", "ReduceSum", "f32[1024,1000] =i64[1]{0}", {}),
    ("sum_middle", "ReduceSum", "f32[256,20,64] =i64[1]{1}", {}),
    ("mean_space", "ReduceMean", "f32[1,256,28,28] =i64[2]{2,3}", {}),
    ("max_rows", "ReduceMax", "f32[1024,1000] =i64[1]{1}", {}),
    ("l2_rows", "ReduceL2", "f32[1024,256] =i64[1]{1}", {}),
    ("logsumexp_rows", "ReduceLogSumExp", "f32[256,1000] =i64[1]{1}", {}),
    ("argmax_rows", "ArgMax", "f32[1024,1000]", {"axis": 1}),
    ("argmin_rows", "ArgMin", "f32[1024,1000]", {"axis": 1}),
    ("argmax_middle", "ArgMax", "f32[16,1000,64]", {"axis": 1}),
    ("argmax_first", "ArgMax", "f32[1000,1024]", {"axis": 0}),
    ("topk", "TopK", "f32[64,10000] =i64[1]{10}", {"outputs": 2}),
    ("softmax", "Softmax", "f32[1024,128]", {}),
    ("log_softmax", "LogSoftmax", "f32[64,1000]", {}),
    ("softmax_channels", "Softmax", "f32[1,21,128,128]", {"axis": 1}),
    # norms
    ("layer_norm", "LayerNormalization", "f32[256,768] =f32[768] =f32[768]", {}),
    ("rms_norm", "RMSNormalization", "f32[256,768] =f32[768]", {}),
    ("group_norm", "GroupNormalization", "f32[1,64,32,32] =f32[64] =f32[64]",
     {"num_groups": 8}),
    ("instance_norm", "InstanceNormalization", "f32[1,64,56,56] =f32[64] =f32[64]", {}),
    ("batch_norm", "BatchNormalization",
     "f32[1,64,56,56] =f32[64] =f32[64] =f32[64] =f32[64]{0.5..1.5}", {}),
    # windows
    ("conv_1x1", "Conv", "f32[1,64,56,56] =f32[128,64,1,1] =f32[128]", {}),
    ("conv_3x3", "Conv", "f32[1,64,56,56] =f32[64,64,3,3] =f32[64]", {"pads": [1] * 4}),
    ("conv_stem", "Conv", "f32[1,3,224,224] =f32[64,3,7,7] =f32[64]",
     {"pads": [3] * 4, "strides": [2, 2]}),
    ("conv_depthwise", "Conv", "f32[1,128,56,56] =f32[128,1,3,3]",
     {"pads": [1] * 4, "group": 128}),
    ("conv_depthwise_7x7", "Conv", "f32[1,96,56,56] =f32[96,1,7,7]",
     {"pads": [3] * 4, "group": 96}),
    ("conv_grouped", "Conv", "f32[1,128,28,28] =f32[128,4,3,3]",
     {"pads": [1] * 4, "group": 32}),
    ("conv_1d", "Conv", "f32[1,64,400] =f32[128,64,5]", {"pads": [2, 2]}),
    ("conv_f16", "Conv", "f16[1,64,56,56] =f16[64,64,3,3]", {"pads": [1] * 4}),
    ("conv_transpose_2x2", "ConvTranspose", "f32[1,64,56,56] =f32[64,32,2,2]",
     {"strides": [2, 2]}),
    ("conv_transpose_3x3", "ConvTranspose", "f32[1,64,32,32] =f32[64,64,3,3]",
     {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
    ("conv_transpose_depthwise", "ConvTranspose", "f32[1,64,32,32] =f32[64,1,2,2]",
     {"strides": [2, 2], "group": 64}),
    ("max_pool_3x3_s2", "MaxPool", "f32[1,64,112,112]",
     {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}),
    ("max_pool_2x2", "MaxPool", "f32[1,64,112,112]",
     {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("max_pool_3x3", "MaxPool", "f32[1,64,56,56]", {"kernel_shape": [3, 3], "pads": [1] * 4}),
    ("max_pool_13x13", "MaxPool", "f32[1,256,20,20]",
     {"kernel_shape": [13, 13], "pads": [6] * 4}),
    ("average_pool_3x3", "AveragePool", "f32[1,64,56,56]",
     {"kernel_shape": [3, 3], "pads": [1] * 4}),
    ("average_pool_2x2", "AveragePool", "f32[1,64,112,112]",
     {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("global_average_pool", "GlobalAveragePool", "f32[1,512,7,7]", {}),
    # pictures
    ("resize_nearest", "Resize", "f32[1,64,80,80] - =f32[4]{1,1,2,2}",
     {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ("resize_linear", "Resize", "f32[1,16,128,128] - =f32[4]{1,1,2,2}", {"mode": "linear"}),
    ("resize_cubic", "Resize", "f32[1,3,224,224] - =f32[4]{1,1,2,2}", {"mode": "cubic"}),
    ("resize_antialias", "Resize", "f32[1,3,512,512] - - =i64[4]{1,3,224,224}",
     {"mode": "linear", "antialias": 1}),
    ("grid_sample", "GridSample", "f32[1,32,96,96] f32[1,96,96,2]{-1..1}", {}),
    ("roi_align", "RoiAlign", "f32[1,64,50,50] f32[200,4]{boxes} =i64[200](0..1)",
     {"output_height": 7, "output_width": 7, "sampling_ratio": 2, "opset": 16}),
    # products
    ("gemm_1", "Gemm", "f32[1,1024] =f32[1024,1024] =f32[1024]", {}),
    ("gemm_64", "Gemm", "f32[64,1024] =f32[1024,1024] =f32[1024]", {}),
    ("matmul", "MatMul", "f32[256,256] f32[256,256]", {}),
    ("matmul_batched", "MatMul", "f32[12,128,64] f32[12,64,128]", {}),
    ("matmul_i32", "MatMul", "i32[256,256](-9..9) i32[256,256](-9..9)", {}),
    ("matmul_integer", "MatMulInteger", "u8[128,512](0..256) =i8[512,512](-128..128)", {}),
    ("einsum", "Einsum", "f32[8,64,32] f32[8,64,32]", {"equation": "bfd,bgd->bfg"}),
    ("attention", "Attention", "f32[1,12,128,64] f32[1,12,128,64] f32[1,12,128,64]", {}),
    ("attention_decode", "Attention",
     "f32[1,32,1,64] f32[1,8,1,64] f32[1,8,1,64] - f32[1,8,1023,64] f32[1,8,1023,64]",
     {"outputs": 3}),
    ("lstm", "LSTM", "f32[50,8,64] =f32[1,512,64]{-0.1..0.1} =f32[1,512,128]{-0.1..0.1}",
     {"hidden_size": 128}),
    ("gru", "GRU", "f32[50,8,64] =f32[1,384,64]{-0.1..0.1} =f32[1,384,128]{-0.1..0.1}",
     {"hidden_size": 128}),
    # integers of quantised layers
    ("quantize", "QuantizeLinear", "f32[256,1024] =f32[]{0.05} =u8[]{128}", {}),
    ("dequantize", "DequantizeLinear", "u8[256,1024](0..256) =f32[]{0.05} =u8[]{128}", {}),
    ("dynamic_quantize", "DynamicQuantizeLinear", "f32[256,1024]", {"outputs": 3}),
    # signals
    ("dft", "DFT", "f32[8,1024,1]", {"axis": 1}),
    ("stft", "STFT", "f32[1,16000,1] =i64[]{160} - =i64[]{400}", {}),
]


def draw_input(draw, text):
    """What an input's text says."""
    parts = re.fullmatch(r"(\w+)\[([\d,]*)\](?:\((-?\d+)\.\.(-?\d+)\)|\{([^}]*)\})?", text)
    dtype, dims, low, high, listed = parts.groups()
    shape = [int(d) for d in dims.split(",") if d]
    if listed == "boxes":
        corner = draw.uniform(0, 30, (*shape[:-1], 2))
        far = corner + draw.uniform(2, 20, corner.shape)
        return np.concatenate([corner, far], -1, dtype="float32", casting="same_kind")
    if listed and ".." in listed:
        return draw.uniform(*map(float, listed.split("..")), shape).astype(TYPES[dtype])
    if listed:
        return np.array(listed.split(","), TYPES[dtype]).reshape(shape)
    if dtype == "bool":
        return draw.random(shape) < 0.5
    if low is not None:
        return draw.integers(int(low), int(high), shape, TYPES[dtype])
    return draw.standard_normal(shape).astype(TYPES[dtype])


def write_model(path, draw, row):
    """The model of a row; gives its inputs' arrays."""
    _, operator, inputs, attributes = row
    attributes, names, given, constants = dict(attributes), [], {}, []
    count = attributes.pop("outputs", attributes.get("num_outputs", 1))
    opset = helper.make_opsetid("", attributes.pop("opset", OPSET))
    for i, text in enumerate(inputs.split()):
        names.append("" if text == "-" else f"x{i}")
        if text[0] == "=":
            constants.append(numpy_helper.from_array(draw_input(draw, text[1:]), f"x{i}"))
        elif text != "-":
            given[f"x{i}"] = draw_input(draw, text)
    if operator == "DFT":  # whose axis is an input
        constants.append(numpy_helper.from_array(np.array(attributes.pop("axis")), "axis"))
        names += ["", "axis"]
    outputs = [f"y{i}" for i in range(count)]
    node = helper.make_node(operator, names, outputs, **attributes)
    ports = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in given.items()]
    graph = helper.make_graph(
        [node], operator, ports,
        [helper.make_empty_tensor_value_info(name) for name in outputs], constants)
    save(helper.make_model(graph, opset_imports=[opset], ir_version=10), path)
    return list(given.values())


def compile_model(path, target):
    """The artifact, or what the compiler says."""
    artifact = path.with_suffix(".ingot")
    more = ["--target", target] if target else []
    done = subprocess.run([BUILD / "ingot", "compile", path, "-o", artifact, *more],
                          capture_output=True, text=True)
    return artifact if done.returncode == 0 else done.stderr.strip()


def turn(run, count):
    begin = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - begin) / count


def interleave(runs, options):
    """[(ours, ONNX Runtime's)] CPU seconds, a round each."""
    counts = []
    for run in runs:
        run()
        each = min(turn(run, 1) for _ in range(3))
        counts.append(max(1, int(options.seconds / max(each, 1e-7))))
    return [[turn(run, count) for run, count in zip(runs, counts)]
            for _ in range(options.rounds)]


def holds_answers(got, want):
    scale = max(1.0, float(np.abs(want).max(initial=0))) if want.dtype.kind == "f" else 1
    loose = 2e-2 if want.dtype == np.float16 else 2e-4
    return np.allclose(got, want, rtol=loose, atol=loose * scale, equal_nan=True)


def measure_row(folder, row, options):
    """(median ratio, ours, ONNX Runtime's, remark)."""
    path = folder / f"{row[0]}.onnx"
    arrays = write_model(path, np.random.default_rng(1), row)
    session, artifact = open_session(str(path)), compile_model(path, options.target)
    if isinstance(artifact, str):
        return 0, 0, 0, artifact
    names = [port.name for port in session.get_inputs()]
    want = session.run(None, dict(zip(names, arrays)))
    outputs = [np.zeros_like(w) for w in want]
    program = Program(artifact, "mapped", BUILD)
    ours, binding, peer = program.session(1), Binding(arrays, outputs), session.io_binding()
    for ports, held, bind in ((session.get_inputs(), arrays, peer.bind_input),
                              (session.get_outputs(), want, peer.bind_output)):
        for port, a in zip(ports, held):
            bind(port.name, "cpu", 0, a.dtype, a.shape, a.ctypes.data)
    ours.run(binding)
    good = all(holds_answers(got, w) for got, w in zip(outputs, want))
    rounds = interleave((lambda: ours.run(binding),
                         lambda: session.run_with_iobinding(peer)), options)
    ours.close()
    program.close()
    ratio = float(np.median([theirs / own for own, theirs in rounds]))
    own, theirs = np.median(rounds, axis=0)
    return ratio, float(own), float(theirs), "" if good else "OTHER ANSWERS"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="rows of these names, with commas")
    parser.add_argument("--target", help="code for this target")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.02, help="of a turn")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    points = []
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            if not any(fnmatch.fnmatch(row[0], only) for only in options.only.split(",")):
                continue
            ratio, own, theirs, remark = measure_row(pathlib.Path(folder), row, options)
            points.append({"name": row[0], "ratio": ratio, "us": own * 1e6,
                           "onnxruntime_us": theirs * 1e6, "remark": remark})
            print(f"{row[0]:26s} {ratio:6.2f}   {own * 1e6:9.1f} us, ONNX Runtime "
                  f"{theirs * 1e6:9.1f} us  {remark}", flush=True)
    good = sum(p["ratio"] >= GOOD for p in points)
    low = [p["name"] for p in points if p["ratio"] < MIN_RATIO or p["remark"]]
    print(f"{good} of {len(points)} at {GOOD} or above; below {MIN_RATIO} or without an answer: "
          f"{' '.join(low) or 'none'}")
    if options.json:
        options.json.write_text(json.dumps(points, indent=1) + "\n")
    return 1 if low or good < GOOD_SHARE * len(points) else 0


if __name__ == "__main__":
    sys.exit(main())
