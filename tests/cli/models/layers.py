"""A model of three layers as ONNX, data for it, and what it answers in integers.

    layers.py make FOLDER         mlp.onnx, data.npz (x, labels), sets/, and bad data
    layers.py judge FOLDER OUT.npz        is OUT what numpy's integers give?
    layers.py rounded FOLDER OUT.npz      or what numpy gives with numbers of bf16?
    layers.py report FILE KEY=VALUE …     does a report in JSON say so?

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "files"))
from tiny_onnx import F32, field, tensor, value  # noqa: E402

SIZES = [13, 64, 32, 1]


def weights():
    rng = np.random.default_rng(3)
    return [rng.standard_normal((k, n)).astype("f4") / np.float32(np.sqrt(k))
            for k, n in zip(SIZES, SIZES[1:])]


def data():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((64, 13)).astype("f4")
    return x, (rng.random((64, 1)) < sigmoid(real(x))).astype("f4")


def sigmoid(x):
    return 1 / (1 + np.exp(-x.astype("f8")))


def real(x):
    first, second, third = weights()
    return np.maximum(np.maximum(x @ first, 0) @ second, 0) @ third


def initializer(name, array):
    dims = b"".join(field(1, d) for d in array.shape)
    return dims + field(2, F32) + field(8, name) + field(9, array.tobytes())


def node(op, name, inputs, output, attributes=b""):
    names = b"".join(field(1, each) for each in inputs)
    return names + field(2, output) + field(3, name) + field(4, op) + attributes


def model(opset):
    first, second, third = weights()
    turned = field(5, field(1, "transB") + field(3, 1) + field(20, 2))
    nodes = [node("MatMul", "first", ["x", "w1"], "a"), node("Relu", "r1", ["a"], "b"),
             node("Gemm", "second", ["b", "w2"], "c", turned),
             node("Relu", "r2", ["c"], "d"), node("MatMul", "third", ["d", "w3"], "e"),
             node("Sigmoid", "end", ["e"], "y")]
    constants = [("w1", first), ("w2", np.ascontiguousarray(second.T)), ("w3", third)]
    graph = (b"".join(field(1, each) for each in nodes) + field(2, "mlp") +
             b"".join(field(5, initializer(*each)) for each in constants) +
             field(11, value("x", tensor(F32, ["B", 13]))) +
             field(12, value("y", tensor(F32, ["B", 1]))))
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))


def make(folder):
    (folder / "mlp.onnx").write_bytes(model(17))
    (folder / "old.onnx").write_bytes(model(11))
    x, labels = data()
    np.savez(folder / "data.npz", x=x, labels=labels)
    for i in range(2):
        part = folder / "sets" / f"test_data_set_{i}"
        part.mkdir(parents=True)
        np.save(part / "input_0.npy", x[32 * i : 32 * i + 32])
        np.save(part / "labels.npy", labels[32 * i : 32 * i + 32])
    for name, bad in {"nan": np.nan, "inf": np.inf}.items():
        broken = x.copy()
        broken[5, 3] = bad
        np.savez(folder / f"{name}.npz", x=broken)
    np.savez(folder / "shape.npz", x=x[:, :5])
    np.savez(folder / "other.npz", z=x)
    (folder / "none").mkdir()


def integers(x, low, high, w):
    """A layer by its min-max range and weights of 8 bits by column, and exact sums."""
    scale = np.float32((high - low) / 255)
    zero = np.clip(np.rint(-low / float(scale)), 0, 255)
    codes = np.clip(np.rint(x / scale) + np.float32(zero), 0, 255).astype("i8")
    by = np.abs(w.astype("f8")).max(0) / 127
    by = np.where(by == 0, 1, by).astype("f4")
    return (codes - int(zero)) @ np.rint(w.astype("f8") / by).astype("i8") * (scale * by)


def judge(folder, got):
    x, _ = data()
    expected, exact = x, x
    for i, w in enumerate(weights()):
        low, high = min(float(exact.min()), 0), max(float(exact.max()), 0)
        expected = integers(expected, low, high, w).astype("f4")
        exact = exact @ w
        if i < 2:
            expected, exact = np.maximum(expected, 0), np.maximum(exact, 0)
    got = np.load(got)["y"]
    worst = np.abs(got - sigmoid(expected)).max()
    assert worst < 0.004, worst
    assert np.median(np.abs(got - sigmoid(expected))) < 1e-6, "steps differ as a rule"
    assert np.abs(got - sigmoid(exact)).max() > 1e-4, "nothing was rounded"


def bf16(x):
    """To the nearest number of 8 significant bits, even ones at ties."""
    bits = x.astype("f4").view("u4").astype("u8")
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return bits.astype("u4").view("f4")


def rounded(folder, got):
    expected, exact = data()[0], data()[0]
    for i, w in enumerate(weights()):
        sums = bf16(expected).astype("f8") @ bf16(w).astype("f8")
        expected, exact = sums.astype("f4"), exact @ w
        if i < 2:
            expected, exact = np.maximum(expected, 0), np.maximum(exact, 0)
    off = np.abs(np.load(got)["y"] - sigmoid(expected))
    assert off.max() < 1e-3 and np.median(off) < 1e-6, off  # sums at ties go either way
    assert np.abs(sigmoid(exact) - sigmoid(expected)).max() > 1e-4, "nothing was rounded"


def report(path, claims):
    facts = json.loads(pathlib.Path(path).read_text())
    for claim in claims:
        assert eval(claim, {}, facts), (claim, facts)


if __name__ == "__main__":
    what, first, *rest = sys.argv[1:]
    if what == "make":
        make(pathlib.Path(first))
    elif what == "judge":
        judge(pathlib.Path(first), *rest)
    elif what == "rounded":
        rounded(pathlib.Path(first), *rest)
    else:
        report(first, rest)
