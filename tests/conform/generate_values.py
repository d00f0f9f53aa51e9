#!/usr/bin/env python3
"""Writes the conformance cases of values that break things, through every family of ops.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_values.py        (python3-numpy, torch)

As generate.py, whose helpers it uses: NaN, infinities, zeros of both signs, the largest,
the least and denormal numbers, the ends of integers, nothing and one element.  Expected
values are numpy's or torch's, computed in f64 (in f32 where that is what overflows) and
rounded once.
"""
import warnings

import numpy as np
import torch
import torch.nn.functional as F

from generate import NARROW, NUMPY, SINTS, UINTS, File, round_narrow, values

warnings.filterwarnings("ignore")
INF, NAN = float("inf"), float("nan")
SPECIAL = [
    NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -3.5, 127, 128, -129, 255.5,
    65504, -65520, 1e10, -1e10, 3e38, -3e38, 1e-38, -1e-38, 2.0**-149, -2.0**-149,
    2.0**-24, 2.0**-133, 2.0**-14, 3.25, -7.75
]
BAD = [("nan", NAN), ("inf", INF), ("huge", 6e4), ("tiny", 2.0**-24)]
FLOATS = ["f16", "bf16", "f32", "f64"]
TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64
}
CLOSE = {"f16": (2e-3, 1e-7), "bf16": (1e-2, 0), "f32": (2e-6, 0), "f64": (1e-12, 0)}
LOOSE = {"f16": (2e-2, 1e-3), "bf16": (5e-2, 1e-2), "f32": (1e-4, 1e-5), "f64": (1e-9, 0)}


def rounded(dtype, x):
    """To the dtype and back to f64, which is what a file writes."""
    return torch.as_tensor(np.asarray(x, np.float64)).to(TORCH[dtype]).double().numpy()


def given(dtype, x):
    """An array as the file's text needs it."""
    x = rounded(dtype, x)
    return x if dtype == "bf16" else x.astype(NUMPY[dtype])


def special(dtype, shape, first=0, step=1):
    """The special values in turn."""
    count = int(np.prod(shape, dtype=np.int64))
    at = (first + step * np.arange(count)) % len(SPECIAL)
    return given(dtype, np.array(SPECIAL)[at].reshape(shape))


def few(dtype, shape, *numbers):
    """Plain values but for `numbers`, apart from each other."""
    x = given(dtype, values("f32", shape))
    for i, number in enumerate(numbers):
        x.flat[(i * (x.size // max(1, len(numbers))) + i) % x.size] = number
    return x


def wide(x):
    return torch.from_numpy(np.asarray(x).astype(np.float64 if x.dtype.kind == "f" else
                                                 np.int64))


def ends(dtype):
    info = np.iinfo(NUMPY[dtype])
    return np.array([0, 1, 2, 3, 7, 31, 63, info.max, info.max - 1, info.max // 2, info.min,
                     info.min + 1, info.min // 2 or 5], NUMPY[dtype])


# ---- elementwise ----

PAIRS = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "min": torch.minimum,
    "max": torch.maximum,
    "mod": torch.remainder,
    "pow": torch.pow,
    "copysign": torch.copysign  # the last, as it changes y
}
COMPARES = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt,
            "ge": torch.ge}
ONE = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "floor": torch.floor,
    "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc, "sqrt": torch.sqrt,
    "exp": torch.exp, "log": torch.log, "tanh": torch.tanh, "erf": torch.erf,
    "sigmoid": torch.sigmoid, "relu": torch.relu, "log1p": torch.log1p,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)), "recip": torch.reciprocal,
    "rsqrt": torch.rsqrt
}
EXACT = {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "relu", "min", "max",
         "copysign"}


def elementwise(file):
    for dtype in FLOATS:
        x = special(dtype, (67, ))
        for op, run in ONE.items():
            y = run(torch.from_numpy(x.astype(np.float64)))
            if op == "sign":
                y = torch.where(torch.isnan(torch.from_numpy(x.astype(np.float64))), NAN, y)
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x", "ret %0"], [("x", dtype, x)],
                      [(dtype, given(dtype, y.numpy()))],
                      None if op in EXACT else CLOSE[dtype])
        x, y = special(dtype, (31, 1)), special(dtype, (1, 13), 3, 12)
        for op, run in PAIRS.items():
            a, b = wide(x), wide(y)
            if op == "copysign":  # a NaN has no sign
                y = np.where(np.isnan(y), 1, y)
                b = wide(y)
            z = run(a, b)
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x, %y", "ret %0"],
                      [("x", dtype, x), ("y", dtype, y)],
                      [(dtype, given(dtype, z.double().numpy()))],
                      None if op in EXACT else CLOSE[dtype])
        for op, run in COMPARES.items():
            z = run(*(torch.from_numpy(v.astype(np.float64)) for v in (x, y)))
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x, %y", "ret %0"],
                      [("x", dtype, x), ("y", dtype, y)], [("bool", z.numpy())])


def wrapped(dtype, x):
    """Whole numbers, wrapped to the dtype."""
    bits = np.iinfo(NUMPY[dtype]).bits
    low = np.array([int(v) % 2**bits for v in np.asarray(x, object).ravel()], object)
    signed = dtype in SINTS
    low = np.array([v - 2**bits if signed and v >= 2**(bits - 1) else v for v in low], object)
    return low.astype(NUMPY[dtype]).reshape(np.shape(x))


def integers(file):
    for dtype in SINTS + UINTS:
        x = ends(dtype)
        a, b = x.astype(object)[:, None], np.roll(x, 5).astype(object)[None, :]
        for op, run in (("add", lambda p, q: p + q), ("sub", lambda p, q: p - q),
                        ("mul", lambda p, q: p * q), ("min", np.minimum),
                        ("max", np.maximum), ("and", np.bitwise_and),
                        ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x, %y", "ret %0"],
                      [("x", dtype, x[:, None]), ("y", dtype, np.roll(x, 5)[None, :])],
                      [(dtype, wrapped(dtype, run(a, b)))])
        for op, run in (("neg", lambda p: -p), ("abs", abs), ("not", lambda p: ~p)):
            file.case(f"{op}/{dtype}", [f"%0 = {op} %x", "ret %0"], [("x", dtype, x)],
                      [(dtype, wrapped(dtype, run(x.astype(object))))])
        for to in SINTS + UINTS + ["f32", "f64"]:
            y = x.astype(NUMPY[to]) if to.startswith("f") else wrapped(to, x)
            file.case(f"cast/{dtype}-{to}", [f"%0 = cast %x {{to = {to}}}", "ret %0"],
                      [("x", dtype, x)], [(to, y)])


def casts(file):
    """Between floats: each value as the other format rounds it."""
    for source in FLOATS:
        x = special(source, (67, ))
        for to in FLOATS:
            if to != source:
                file.case(f"cast/{source}-{to}", [f"%0 = cast %x {{to = {to}}}", "ret %0"],
                          [("x", source, x)], [(to, given(to, x))])
        for to in NARROW:
            if to == "bf16":
                continue
            for saturates in (False, True):
                y = np.array([round_narrow(to, float(v), saturates) for v in x])
                flag = ", saturate" if saturates else ""
                file.case(f"cast/{source}-{to}" + ("/saturate" if saturates else ""),
                          [f"%0 = cast %x {{to = {to}{flag}}}", "ret %0"],
                          [("x", source, x)], [(to, y)])


# ---- rows ----


def rows(dtype):
    """Rows of one special value, then rows of it with a 1 at the end."""
    numbers = np.array(SPECIAL)
    for width in (1, 3, 19) if dtype == "f32" else (1, 18) if dtype == "f16" else (3, ):
        x = np.repeat(np.concatenate([numbers, numbers])[:, None], width, 1)
        x[len(SPECIAL):, -1] = 1
        yield width, given(dtype, x)


def reductions(file):
    kinds = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin,
             "prod": torch.prod, "logsumexp": torch.logsumexp}
    for dtype in FLOATS:
        for width, x in rows(dtype):
            t = wide(x)
            for kind, run in kinds.items():
                y = run(t, 1).numpy()
                if kind == "mean" and dtype != "f64":  # what f32 does not hold is infinite
                    y = np.where(np.abs(t.sum(1).numpy()) > np.finfo(np.float32).max,
                                 t.sum(1).sign().numpy() * INF, y)
                if kind == "prod" and dtype != "f64":
                    y = np.prod(x.astype(np.float32), 1, dtype=np.float32)
                file.case(f"reduce/{kind}/{dtype}/{width}", [
                    f"%0 = reduce %x {{op = {kind}, axes = [1]}}", "ret %0"
                ], [("x", dtype, x)], [(dtype, given(dtype, y))],
                          None if kind in ("max", "min") else CLOSE[dtype])
            for log in (False, True):
                y = (torch.log_softmax if log else torch.softmax)(t, 1)
                file.case(f"softmax/{dtype}/{width}" + ("/log" if log else ""), [
                    "%0 = softmax %x {axis = 1" + (", log" if log else "") + "}", "ret %0"
                ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
            at = [torch.argmax(t, 1), torch.argmin(t, 1)]
            file.case(f"arg_reduce/{dtype}/{width}", [
                "%0 = arg_reduce %x {op = max, axis = 1}",
                "%1 = arg_reduce %x {op = min, axis = 1}", "ret %0, %1"
            ], [("x", dtype, x)], [("i64", a.numpy()) for a in at])
    for dtype in SINTS + UINTS:
        for width in (1, 2, 5):
            x = np.resize(ends(dtype), (7, width))
            for kind, run in (("max", np.max), ("min", np.min), ("sum", np.sum),
                              ("prod", np.prod)):
                y = run(x.astype(object), 1)
                file.case(f"reduce/{kind}/{dtype}/{width}", [
                    f"%0 = reduce %x {{op = {kind}, axes = [1]}}", "ret %0"
                ], [("x", dtype, x)], [(dtype, wrapped(dtype, y))])


def running(file):
    for dtype in ("f16", "f32", "f64"):
        x = special(dtype, (9, 31), 0, 7)
        x[np.abs(x) > 1e4] = 100
        y = np.cumsum(x.astype(np.float64), 1)
        file.case(f"cumsum/{dtype}", ["%0 = cumsum %x {axis = 1}", "ret %0"],
                  [("x", dtype, x)], [(dtype, given(dtype, y))], LOOSE[dtype])
        for op, run in (("max", torch.cummax), ("min", torch.cummin)):
            y, at = run(wide(x), 1)
            file.case(f"cumulate/{op}/{dtype}", [
                f"%0 = cumulate %x {{op = {op}, axis = 1}}", "ret %0"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))])


# ---- order and search ----


def order(file):
    for dtype in FLOATS:
        x = np.stack([special(dtype, (31, ), i, 2 * i + 1) for i in range(5)])
        for descending in (False, True):
            y, at = torch.sort(wide(x), dim=1, descending=descending, stable=True)
            flag = ", descending" if descending else ""
            file.case(f"sort/{dtype}/{descending:d}", [
                f"%0, %1 = sort %x {{axis = 1{flag}}}", "ret %0, %1"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy())), ("i64", at.numpy())])
            k = 4
            flag = "" if descending else ", smallest"
            file.case(f"topk/{dtype}/{descending:d}", [
                f"%0, %1 = topk %x {{axis = 1, k = {k}{flag}}}", "ret %0, %1"
            ], [("x", dtype, x)], [(dtype, given(dtype, y[:, :k].numpy())),
                                   ("i64", at[:, :k].numpy())], dynamic=False)
        positions = np.unique(special(dtype, (31, )))
        positions = positions[~np.isnan(positions)]
        for right in (False, True):
            at = np.searchsorted(positions, x, "right" if right else "left")
            file.case(f"bucketize/{dtype}/{right:d}", [
                "%0 = bucketize %x, %y" + (" {right}" if right else ""), "ret %0"
            ], [("x", dtype, x), ("y", dtype, positions)], [("i64", at)])
        file.case(f"nonzero/{dtype}", ["%0 = nonzero %x", "ret %0"], [("x", dtype, x)],
                  [("i64", np.argwhere(x))])
    for dtype in SINTS + UINTS:
        x = np.stack([np.roll(ends(dtype), i) for i in range(3)])
        for descending in (False, True):
            at = np.argsort(x.astype(object) * (-1 if descending else 1), 1, kind="stable")
            flag = ", descending" if descending else ""
            file.case(f"sort/{dtype}/{descending:d}", [
                f"%0, %1 = sort %x {{axis = 1{flag}}}", "ret %0, %1"
            ], [("x", dtype, x)], [(dtype, np.take_along_axis(x, at, 1)), ("i64", at)])


# ---- ids ----


def ids(file):
    for dtype in FLOATS:
        x, u = special(dtype, (6, 5)), special(dtype, (4, 5), 11, 3)
        at = np.array([-6, 5, -1, 0])
        file.case(f"gather/{dtype}", ["%0 = gather %x, %i {axis = 0}", "ret %0"],
                  [("x", dtype, x), ("i", "i64", at)], [(dtype, x[at])])
        file.case(f"gather/{dtype}/none", ["%0 = gather %x, %i {axis = 0}", "ret %0"],
                  [("x", dtype, x), ("i", "i64", at[:0])], [(dtype, x[at[:0]])])
        spread = np.repeat(at[:, None], 5, 1)
        for reduce, run in (("none", None), ("add", np.add), ("mul", np.multiply),
                            ("min", np.minimum), ("max", np.maximum)):
            y = x.astype(np.float32 if dtype in ("f16", "bf16") else x.dtype)
            for i in range(4):
                y[at[i]] = u[i] if run is None else run(y[at[i]], u[i])
                y = given(dtype, y).astype(y.dtype)
            tolerance = CLOSE[dtype] if reduce in ("add", "mul") else None
            file.case(f"scatter_elements/{reduce}/{dtype}", [
                f"%0 = scatter_elements %x, %i, %u {{axis = 0, reduce = {reduce}}}", "ret %0"
            ], [("x", dtype, x), ("i", "i64", spread), ("u", dtype, u)],
                      [(dtype, given(dtype, y))], tolerance)
            file.case(f"scatter_nd/{reduce}/{dtype}", [
                f"%0 = scatter_nd %x, %i, %u {{reduce = {reduce}}}", "ret %0"
            ], [("x", dtype, x), ("i", "i64", at[:, None]), ("u", dtype, u)],
                      [(dtype, given(dtype, y))], tolerance, dynamic=False)
            file.case(f"scatter_elements/{reduce}/{dtype}/none", [
                f"%0 = scatter_elements %x, %i, %u {{axis = 0, reduce = {reduce}}}", "ret %0"
            ], [("x", dtype, x), ("i", "i64", spread[:0]), ("u", dtype, u[:0])], [(dtype, x)])
        parts = special(dtype, (2, 3), 5)
        y = x.copy()
        y[1:3, 4:1:-1] = parts
        file.case(f"insert/{dtype}", [
            "%0 = insert %x, %y {starts = [1, 4], steps = [1, -1]}", "ret %0"
        ], [("x", dtype, x), ("y", dtype, parts)], [(dtype, y)], dynamic=False)
    for dtype in SINTS + UINTS:
        x = ends(dtype)
        file.case(f"gather/{dtype}", ["%0 = gather %x, %i {axis = 0}", "ret %0"],
                  [("x", dtype, x), ("i", "i64", np.array([-1, 0, -13, 12]))],
                  [(dtype, x[[-1, 0, -13, 12]])])
    for start, stop, step in ((5, -4, -2), (0, 0, 1), (3, 1, 1), (-2**40, -2**40 + 7, 3),
                              (2**62, 2**62 - 3, -1)):
        y = np.arange(start, stop, step)
        inputs = [("a", "i64", np.array(start)), ("b", "i64", np.array(stop)),
                  ("c", "i64", np.array(step))]
        file.case(f"range/i64/{start}-{stop}", ["%0 = range %a, %b, %c : i64[n]", "ret %0"],
                  inputs, [("i64", y)], dynamic=False)
    for start, stop, step in ((0.5, 3.0, 0.75), (1.0, -1.0, -0.25), (2.0, 1.0, 0.5),
                              (-0.0, 1.0, 1e9)):
        count = max(0, int(np.ceil((stop - start) / step)))
        y = (start + step * np.arange(count)).astype(np.float32)
        inputs = [(n, "f32", np.array(v, np.float32))
                  for n, v in zip("abc", (start, stop, step))]
        file.case(f"range/f32/{start}-{stop}", ["%0 = range %a, %b, %c : f32[n]", "ret %0"],
                  inputs, [("f32", y)], CLOSE["f32"], dynamic=False)


# ---- products ----


def products(file):
    shapes = ((1, 19, 37), (5, 19, 37), (9, 1, 1), (3, 0, 5), (0, 4, 5))
    for dtype in FLOATS:
        for m, k, n in shapes:
            numbers = (NAN, INF, 2.0**-149 if dtype == "f32" else 2.0**-24)
            x = few(dtype, (m, k), *numbers) if m * k > 8 else given(
                dtype, values("f32", (m, k)))
            w = given(dtype, values("f32", (k, n)))
            if w.size > 8:
                w.flat[k * n - 1] = -INF
                w.flat[1] = 0
            y = given(dtype, (wide(x) @ wide(w)).numpy())
            name = f"{m}x{k}x{n}"
            file.case(f"matmul/{dtype}/{name}", ["%0 = matmul %x, %w", "ret %0"],
                      [("x", dtype, x), ("w", dtype, w)], [(dtype, y)], LOOSE[dtype])
            file.case(f"packed/{dtype}/{name}", ["%0 = matmul %x, @w", "ret %0"],
                      [("x", dtype, x)], [(dtype, y)], LOOSE[dtype],
                      items=[("w", dtype, w)])
    for dtype in ("i8", "u8", "i32", "i64"):
        x, w = np.resize(ends(dtype), (3, 7)), np.resize(ends(dtype)[::-1], (7, 5))
        y = wrapped(dtype, x.astype(object) @ w.astype(object))
        file.case(f"matmul/{dtype}", ["%0 = matmul %x, %w", "ret %0"],
                  [("x", dtype, x), ("w", dtype, w)], [(dtype, y)])
    for name, bad in (("nan", NAN), ("inf", INF), ("denormal", 2.0**-149), ("zero", -0.0)):
        x = few("f32", (3, 4, 8), bad)
        full = np.einsum("bid,bjd->bij", x.astype(np.float64), x.astype(np.float64))
        pairs = [4 * i + j for i in range(4) for j in range(i)]
        y = full.reshape(3, 16)[:, pairs]
        file.case(f"interact/{name}", [f"%0 = interact %x {{pairs = {pairs}}}", "ret %0"],
                  [("x", "f32", x)], [("f32", given("f32", y))], LOOSE["f32"])


# ---- windows ----


def ints(name, numbers):
    return f"{name} = [{', '.join(map(str, numbers))}]"


def windows(file):
    for dtype in ("f16", "f32", "f64"):
        for name, bad in BAD[:None if dtype == "f32" else 2]:
            x = few(dtype, (1, 3, 5, 19), bad)
            w, b = given(dtype, values("f32", (4, 3, 3, 3))), given(dtype, values("f32", (4, )))
            y = F.conv2d(wide(x), wide(w), wide(b), 1, 1)
            pads = ints("before", (1, 1)) + ", " + ints("after", (1, 1))
            file.case(f"conv/{name}/{dtype}", [f"%0 = conv %x, %w, %b {{{pads}}}", "ret %0"],
                      [("x", dtype, x), ("w", dtype, w), ("b", dtype, b)],
                      [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
            y = F.conv_transpose2d(wide(x), wide(w[:3, :2]), None, 2)
            file.case(f"conv/transposed/{name}/{dtype}", [
                "%0 = conv %x, %w {transposed, strides = [2, 2]}", "ret %0"
            ], [("x", dtype, x), ("w", dtype, w[:3, :2])], [(dtype, given(dtype, y.numpy()))],
                      LOOSE[dtype], dynamic=False)
        x = np.stack([special(dtype, (9, 11), i, i + 1) for i in range(3)])[None]
        for pad in (0, 1):
            y, at = F.max_pool2d(wide(x), 3, 2, pad, return_indices=True)
            common = ", ".join([ints("kernel", (3, 3)), ints("strides", (2, 2)),
                                ints("before", (pad, pad)), ints("after", (pad, pad))])
            file.case(f"pool/max/{pad}/{dtype}", [f"%0 = pool %x {{{common}}}", "ret %0"],
                      [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))])
            big = np.abs(x) > 1e5
            z = np.where(big, np.sign(x) * 1e4, x)
            y = F.avg_pool2d(wide(z), 3, 2, pad)
            file.case(f"pool/average/{pad}/{dtype}", [
                f"%0 = pool %x {{op = average, {common}, count_pad}}", "ret %0"
            ], [("x", dtype, z)], [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
        lowest = np.full((1, 1, 3, 3), -INF)
        y = F.max_pool2d(torch.from_numpy(lowest), 2, 1, 1)
        file.case(f"pool/lowest/{dtype}", [
            "%0 = pool %x {kernel = [2, 2], before = [1, 1], after = [1, 1]}", "ret %0"
        ], [("x", dtype, given(dtype, lowest))], [(dtype, given(dtype, y.numpy()))])
        x = np.stack([special(dtype, (5, 7), i, i + 1) for i in range(2)])[None]
        for size in ((10, 14), (3, 4), (1, 1)):
            y = F.interpolate(wide(x), size, mode="nearest")
            file.case(f"resize/nearest/{size[0]}x{size[1]}/{dtype}", [
                "%0 = resize %x {" + ints("sizes", (1, 2) + size) +
                ", nearest = floor, coordinates = asymmetric}", "ret %0"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))], dynamic=False)
    for dtype in ("i64", "u64", "i8"):  # moved as they are, also those that no double holds
        x = np.resize(ends(dtype), (1, 2, 3, 5))
        file.case(f"resize/nearest/ends/{dtype}", [
            "%0 = resize %x {sizes = [1, 2, 6, 5], nearest = floor, coordinates = asymmetric}",
            "ret %0"
        ], [("x", dtype, x)], [(dtype, np.repeat(x, 2, axis=2))], dynamic=False)
        positions = np.array([(-1, -1), (1, 1), (0, -1), (-1, 1)], np.float32).reshape(1, 1, 4, 2)
        y = x[:, :, [0, 2, 0, 2], [0, 4, 2, 0]][:, :, None]
        file.case(f"grid_sample/nearest/ends/{dtype}", [
            "%0 = grid_sample %x, %g {align_corners} : " + f"{dtype}[1, 2, 1, 4]", "ret %0"
        ], [("x", dtype, x), ("g", "f32", positions)], [(dtype, y)])


# ---- norms, attention, recurrent layers ----


def layers(file):
    for dtype in ("f16", "f32", "f64"):
        for name, bad in BAD[:None if dtype == "f32" else 2] + [("zero", 0.0)]:
            x = few(dtype, (3, 4, 19), bad) if name != "zero" else np.zeros((3, 4, 19),
                                                                           NUMPY[dtype])
            y = F.layer_norm(wide(x), (19, ), None, None, 1e-5)
            file.case(f"layer_norm/{name}/{dtype}", [
                "%0 = layer_norm %x {axis = 2, epsilon = 1e-5}", "ret %0"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
            y = F.rms_norm(wide(x), (19, ), None, 1e-5)
            file.case(f"rms_norm/{name}/{dtype}", [
                "%0 = layer_norm %x {axis = 2, epsilon = 1e-5, rms}", "ret %0"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
            s, b, m = (given(dtype, values("f32", (4, ), 0.5, 2)) for _ in range(3))
            y = F.batch_norm(wide(x), wide(m), wide(s), wide(s), wide(b), False, 0, 1e-5)
            file.case(f"batch_norm/{name}/{dtype}", [
                "%0 = batch_norm %x, %s, %b, %m, %s {epsilon = 1e-5}", "ret %0"
            ], [("x", dtype, x), ("s", dtype, s), ("b", dtype, b), ("m", dtype, m)],
                      [(dtype, given(dtype, y.numpy()))], LOOSE[dtype])
            y = F.group_norm(wide(x), 2, None, None, 1e-5)
            file.case(f"group_norm/{name}/{dtype}", [
                "%0 = group_norm %x {groups = 2, epsilon = 1e-5}", "ret %0"
            ], [("x", dtype, x)], [(dtype, given(dtype, y.numpy()))], LOOSE[dtype],
                      dynamic=False)
    for name, bad in (("nan", NAN), ("inf", INF), ("tiny", 2.0**-149), ("zero", -0.0)):
        q, k, v = few("f32", (2, 3, 8), bad), values("f32", (2, 5, 8)), values("f32", (2, 5, 4))
        y = F.scaled_dot_product_attention(wide(q), wide(k), wide(v), scale=0.25)
        file.case(f"attention/{name}", [
            "%0 = attention %q, %k, %v {scale = 0.25}", "ret %0"
        ], [("q", "f32", q), ("k", "f32", k), ("v", "f32", v)],
                  [("f32", given("f32", y.numpy()))], LOOSE["f32"], dynamic=False)
        m = values("f32", (3, 5))
        m[0, 1], m[1] = -INF, bad
        q = values("f32", (2, 3, 8))
        y = F.scaled_dot_product_attention(wide(q), wide(k), wide(v), wide(m), scale=0.25)
        file.case(f"attention/mask/{name}", [
            "%0 = attention %q, %k, %v, %m {scale = 0.25}", "ret %0"
        ], [("q", "f32", q), ("k", "f32", k), ("v", "f32", v), ("m", "f32", m)],
                  [("f32", given("f32", y.numpy()))], LOOSE["f32"], dynamic=False)
        for cell, gates, module in (("lstm", 4, torch.nn.LSTM), ("gru", 3, torch.nn.GRU)):
            layer = module(3, 4).double()
            weights = [values("f32", s, -1, 1)
                       for s in ((gates * 4, 3), (gates * 4, 4), (gates * 4, ), (gates * 4, ))]
            for p, w in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"),
                            weights):
                getattr(layer, p).data = wide(w)
            x = few("f32", (3, 2, 3), bad)
            h, c = values("f32", (2, 4), -1, 1), values("f32", (2, 4), -1, 1)
            states = (wide(h)[None], wide(c)[None]) if cell == "lstm" else wide(h)[None]
            with torch.no_grad():
                y, last = layer(wide(x), states)
            last = last if cell == "lstm" else (last, )
            inputs = [("x", "f32", x), ("h", "f32", h)]
            inputs += [("c", "f32", c)] if cell == "lstm" else []
            inputs += [(n, "f32", w) for n, w in zip("wruv", weights)]
            results = ", ".join(f"%{i}" for i in range(1 + len(last)))
            body = f"{results} = rnn " + ", ".join(f"%{n}" for n, _, _ in inputs)
            file.case(f"rnn/{cell}/{name}", [f"{body} {{cell = {cell}}}", f"ret {results}"],
                      inputs, [("f32", given("f32", t.numpy()))
                               for t in (y, ) + tuple(s[0] for s in last)],
                      LOOSE["f32"], dynamic=False)


# ---- nothing, and one ----


def small(file):
    for shape in ((0, ), (1, ), (0, 3), (3, 0), (1, 1)):
        x = special("f32", shape, 1)
        name = "x".join(map(str, shape))
        last = len(shape) - 1
        y = np.maximum(x, 0) + x
        file.case(f"map/{name}", ["%0 = relu %x", "%1 = add %0, %x", "ret %1"],
                  [("x", "f32", x)], [("f32", y)])
        y = np.sum(x, last)
        file.case(f"sum/{name}", [f"%0 = reduce %x {{op = sum, axes = [{last}]}}", "ret %0"],
                  [("x", "f32", x)], [("f32", y)])
        y = torch.softmax(torch.from_numpy(x), last).numpy()
        file.case(f"softmax/{name}", [f"%0 = softmax %x {{axis = {last}}}", "ret %0"],
                  [("x", "f32", x)], [("f32", y)], CLOSE["f32"])
        y = np.cumsum(x, last, dtype=np.float32)
        file.case(f"cumsum/{name}", [f"%0 = cumsum %x {{axis = {last}}}", "ret %0"],
                  [("x", "f32", x)], [("f32", y)])
        y = np.concatenate([x, x], last)
        file.case(f"concat/{name}", [f"%0 = concat %x, %x {{axis = {last}}}", "ret %0"],
                  [("x", "f32", x)], [("f32", y)])
        y = np.sort(x, last)
        at = np.argsort(x, last, kind="stable")
        file.case(f"sort/{name}", [f"%0, %1 = sort %x {{axis = {last}}}", "ret %0, %1"],
                  [("x", "f32", x)], [("f32", y), ("i64", at)])


def main():
    file = File("values.txt", "Values that break things.  Written by generate_values.py.")
    for part in (elementwise, integers, casts, reductions, running, order, ids, products,
                 windows, layers, small):
        part(file)
    file.write()


if __name__ == "__main__":
    main()
