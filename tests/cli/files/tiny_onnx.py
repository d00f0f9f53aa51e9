"""Writes ONNX files of one node that no exporter here writes, byte by byte.

    tiny_onnx.py FILE KIND        relu: y = Relu(x), x without a shape
                                  list: y = ConcatFromSequence(x) of vectors without a shape
                                  axes: y = Unsqueeze(x, axes), axes an input
                                  range: y = Range(0, x, 0) of an i64 number
                                  pads, tile, crop: y = Pad, Tile, CenterCropPad(x, list)
                                  twins: y = Add(x, z), both [B, S]
                                  narrow: y = Relu(x) of COMPLEX64
                                  unknown: y = CastMap(x), which is not supported
                                  hash, hashes: y = acme.Hash(x) with `buckets`, of [N]
                                  and of [B, 3]
                                  foreign: the same of the domain that follows
                                  pooled, pooled_inside: rows of a hash, summed; the hash
                                  is acme.Hash, or a Mul and a Mod of this model

SPDX-License-Identifier: Apache-2.0
"""
import sys

F32, I64 = 1, 7


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(dtype, dims=None):
    shape = b"" if dims is None else field(2, b"".join(
        field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims))
    return field(1, field(1, dtype) + shape)


def sequence(item):
    return field(4, field(1, item))


def value(name, kind):
    return field(1, name) + field(2, kind)


def constant(name, number):
    return field(2, I64) + field(7, number) + field(8, name)


def node(op, inputs, attributes=b""):
    names = b"".join(field(1, name) for name in inputs)
    return names + field(2, "y") + field(3, "the_node") + field(4, op) + attributes


def model(inputs, output, body, initializers=(), opset=17, domain=""):
    graph = (field(1, body) + field(2, "g") +
             b"".join(field(5, i) for i in initializers) +
             b"".join(field(11, i) for i in inputs) + field(12, output))
    return field(1, 8) + field(7, graph) + field(8, field(2, opset)) + (
        field(8, field(1, domain) + field(2, 1)) if domain else b"")


def hashed(dims, domain="acme"):
    buckets = field(5, field(1, "buckets") + field(3, 1000) + field(20, 2))
    return model([value("x", tensor(I64, dims))], value("y", tensor(I64, dims)),
                 node("Hash", ["x"], field(7, domain) + buckets), domain=domain)


def pooled(is_inside):
    """y = ReduceSum(Gather(table, hash(x)), 1), the table of ones."""
    def step(op, inputs, output, attributes=b""):
        return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) +
                     field(3, output) + field(4, op) + attributes)

    buckets = field(5, field(1, "buckets") + field(3, 1000) + field(20, 2))
    hashing = (step("Mul", ["x", "factor"], "m") + step("Mod", ["m", "buckets"], "id")
               if is_inside else step("Hash", ["x"], "id", field(7, "acme") + buckets))
    body = (hashing + step("Gather", ["table", "id"], "rows") +
            step("ReduceSum", ["rows", "axes"], "y",
                 field(5, field(1, "keepdims") + field(3, 0) + field(20, 2))))
    table = (field(1, 1000) + field(1, 16) + field(2, F32) +
             field(9, b"\0\0\x80\x3f" * 16000) + field(8, "table"))
    axes = field(1, 1) + field(2, I64) + field(7, 1) + field(8, "axes")
    numbers = [table, axes] + ([constant("factor", 2654435761), constant("buckets", 1000)]
                               if is_inside else [])
    graph = (body + field(2, "g") + b"".join(field(5, n) for n in numbers) +
             field(11, value("x", tensor(I64, ["B", 20]))) +
             field(12, value("y", tensor(F32, ["B", 16]))))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17)) + (
        b"" if is_inside else field(8, field(1, "acme") + field(2, 1)))


axis = field(5, field(1, "axis") + field(3, 0) + field(20, 2))
kinds = {
    "relu": lambda: model([value("x", tensor(F32))], value("y", tensor(F32)),
                          node("Relu", ["x"])),
    "relu4": lambda: model([value("x", tensor(F32, ["B", 4]))], value("y", tensor(F32, ["B", 4])),
                           node("Relu", ["x"])),
    "list": lambda: model([value("x", sequence(tensor(F32)))], value("y", tensor(F32)),
                          node("ConcatFromSequence", ["x"], axis)),
    "axes": lambda: model([value("x", tensor(F32, ["N"])), value("axes", tensor(I64, [2]))],
                          value("y", tensor(F32)), node("Unsqueeze", ["x", "axes"])),
    "pads": lambda: model([value("x", tensor(F32, ["N"])), value("list", tensor(I64, ["P"]))],
                          value("y", tensor(F32)), node("Pad", ["x", "list"])),
    "tile": lambda: model([value("x", tensor(F32, ["N"])), value("list", tensor(I64, ["P"]))],
                          value("y", tensor(F32)), node("Tile", ["x", "list"])),
    "crop": lambda: model([value("x", tensor(F32, ["N"])), value("list", tensor(I64, ["P"]))],
                          value("y", tensor(F32)), node("CenterCropPad", ["x", "list"]), opset=18),
    "twins": lambda: model([value("x", tensor(F32, ["B", "S"])),
                            value("z", tensor(F32, ["B", "S"]))],
                           value("y", tensor(F32, ["B", "S"])), node("Add", ["x", "z"])),
    "narrow": lambda: model([value("x", tensor(14, [2]))], value("y", tensor(14)),
                            node("Relu", ["x"])),
    "unknown": lambda: model([value("x", tensor(F32, [2]))], value("y", tensor(F32)),
                             node("CastMap", ["x"], field(7, "ai.onnx.ml")),
                             domain="ai.onnx.ml"),
    "hash": lambda: hashed(["N"]),
    "hashes": lambda: hashed(["B", 3]),
    "foreign": lambda: hashed(["N"], sys.argv[3]),
    "pooled": lambda: pooled(False),
    "pooled_inside": lambda: pooled(True),
    "range": lambda: model([value("x", tensor(I64, []))], value("y", tensor(I64, ["M"])),
                           node("Range", ["zero", "x", "step"]),
                           [constant("zero", 0), constant("step", 0)]),
}
if __name__ == "__main__":
    with open(sys.argv[1], "wb") as out:
        out.write(kinds[sys.argv[2]]())
