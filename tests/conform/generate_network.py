#!/usr/bin/env python3
"""Writes the conformance cases of neural networks' ops.

SPDX-License-Identifier: Apache-2.0

    python3 tests/conform/generate_network.py        (python3-numpy, torch)

As generate.py, whose helpers it uses: expected values are torch's, computed in f64 and
rounded once.
"""
import numpy as np
import torch
import torch.nn.functional as F

from generate import NUMPY, File, values

TOLERANCE = {"f16": (2e-3, 2e-3), "f32": (1e-5, 1e-5), "f64": (1e-11, 1e-12)}


def wide(array):
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    return torch.from_numpy(array.astype(kind))


def result(dtype, tensor):
    return (dtype, tensor.numpy().astype(NUMPY[dtype]))


def ints(name, numbers):
    return f"{name} = [{', '.join(map(str, numbers))}]"


def attributes(*parts):
    return " {" + ", ".join(p for p in parts if p) + "}"


# ---- convolutions ----

# name, x, w, stride, pads before, pads after, dilation, group
CONVS = [
    ("plain", (2, 3, 7, 9), (4, 3, 3, 3), (1, 1), (0, 0), (0, 0), (1, 1), 1),
    ("pads", (1, 2, 5, 40), (5, 2, 3, 3), (1, 1), (1, 2), (0, 1), (1, 1), 1),
    ("strides", (1, 3, 9, 45), (8, 3, 3, 5), (2, 2), (1, 2), (1, 2), (1, 1), 1),
    ("dilation", (1, 2, 11, 23), (3, 2, 3, 2), (1, 2), (0, 0), (0, 0), (2, 3), 1),
    ("group", (2, 4, 6, 20), (6, 2, 2, 2), (1, 1), (0, 0), (0, 0), (1, 1), 2),
    ("depthwise", (1, 5, 6, 70), (5, 1, 3, 3), (1, 1), (1, 1), (1, 1), (1, 1), 5),
    ("pointwise", (2, 9, 3, 17), (11, 9, 1, 1), (1, 1), (0, 0), (0, 0), (1, 1), 1),
    ("one", (1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0), (0, 0), (1, 1), 1),
    ("line", (2, 3, 19), (4, 3, 4), (3, ), (2, ), (1, ), (1, ), 1),
    ("volume", (1, 2, 4, 5, 6), (3, 2, 2, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 0),
     (1, 1, 2), 1),
    ("none", (0, 3, 5, 5), (2, 3, 3, 3), (1, 1), (0, 0), (0, 0), (1, 1), 1),
]


def geometry(stride, before, after, dilation):
    return [
        ints("strides", stride),
        ints("before", before),
        ints("after", after),
        ints("dilations", dilation)
    ]


def torch_pads(before, after):
    return [p for b, a in reversed(list(zip(before, after))) for p in (b, a)]


def convolve(x, w, bias, stride, dilation, group):
    function = [None, F.conv1d, F.conv2d, F.conv3d][len(stride)]
    return function(x, w, bias, stride, 0, dilation, group)


def convolutions(file):
    for name, xs, ws, stride, before, after, dilation, group in CONVS:
        for dtype in ("f32", "f64", "f16", "i32") if name == "pads" else ("f32", ):
            x, w, b = (values(dtype, s, -2, 2) for s in (xs, ws, ws[:1]))
            y = convolve(F.pad(wide(x), torch_pads(before, after)), wide(w), wide(b),
                         stride, dilation, group)
            file.case(
                f"conv/{name}/{dtype}", [
                    "%0 = conv %x, %w, %b" +
                    attributes(*geometry(stride, before, after, dilation),
                               f"group = {group}"), "ret %0"
                ], [("x", dtype, x), ("w", dtype, w),
                    ("b", dtype, b)], [result(dtype, y)], TOLERANCE.get(dtype),
                dynamic=group == 1)
    x, w = values("f32", (2, 3, 6, 18)), values("f32", (5, 3, 3, 3))
    r, s = values("f32", (2, 5, 4, 16)), values("f32", (5, 1, 1))
    y = torch.relu(F.conv2d(wide(x), wide(w)) * wide(s) + wide(r))
    file.case("conv/epilogue", [
        "%0 = conv %x, %w", "%1 = mul %0, %s", "%2 = add %1, %r", "%3 = relu %2", "ret %3"
    ], [("x", "f32", x), ("w", "f32", w), ("r", "f32", r),
        ("s", "f32", s)], [result("f32", y)], (1e-5, 1e-4), dynamic=False)


def panels_of(w, group):
    """[O, I, k…] as panels [group * ceil(O / group / 16), k… * I, 16]."""
    outs = len(w) // group
    w = np.moveaxis(w.reshape(group, outs, -1, *w.shape[2:]), 2, -1)
    w = w.reshape(group, outs, -1)
    w = np.pad(w, ((0, 0), (0, -outs % 16), (0, 0)))
    return w.reshape(-1, 16, w.shape[2]).transpose(0, 2, 1).copy()


# name, x, w, stride, dilation, group
LAST = [
    ("plain", (2, 3, 5, 6), (5, 3, 3, 2), (1, 1), (1, 1), 1),
    ("strides", (1, 2, 9, 7), (17, 2, 2, 3), (3, 2), (2, 1), 1),
    ("group", (2, 6, 4), (20, 3, 2), (1, ), (1, ), 2),
]
# name, x, w, stride, pads before, pads after, dilation
SINGLE = [
    ("plain", (2, 3, 5, 6), (3, 1, 3, 2), (1, 1), (0, 0), (0, 0), (1, 1)),
    ("pads", (1, 5, 6, 7), (5, 1, 3, 3), (2, 1), (1, 0), (2, 3), (1, 2)),
    ("line", (2, 4, 9), (4, 1, 5), (1, ), (2, ), (2, ), (1, )),
]


def channels_last(file):
    for name, xs, ws, stride, dilation, group in LAST:
        x, w = values("f32", xs, -2, 2), values("f32", ws, -2, 2)
        y = convolve(wide(x), wide(w), None, stride, dilation, group)
        file.case(f"conv/panels/{name}", [
            "%0 = conv_panels %x, %w" + attributes(
                f"kernel = {list(ws[2:])}", f"columns = {ws[0] // group}",
                f"strides = {list(stride)}", f"dilations = {list(dilation)}",
                f"group = {group}"), "ret %0"
        ], [("x", "f32", np.moveaxis(x, 1, -1).copy()), ("w", "f32", panels_of(w, group))],
                  [result("f32", y.movedim(1, -1).contiguous())], (1e-5, 1e-5),
                  dynamic=False)
    for name, xs, ws, stride, before, after, dilation in SINGLE:
        x, w = values("f32", xs, -2, 2), values("f32", ws, -2, 2)
        y = convolve(F.pad(wide(x), torch_pads(before, after)), wide(w), None, stride,
                     dilation, ws[0])
        file.case(f"conv/channels/{name}", [
            "%0 = conv_channels %x, %w" +
            attributes(*geometry(stride, before, after, dilation)), "ret %0"
        ], [("x", "f32", np.moveaxis(x, 1, -1).copy()),
            ("w", "f32", np.moveaxis(w[:, 0], 0, -1).copy())],
                  [result("f32", y.movedim(1, -1).contiguous())], (1e-5, 1e-5),
                  dynamic=False)


# name, x, columns, pads before, pads after
WINOGRAD = [
    ("whole", (1, 3, 6, 4), 5, (0, 0), (0, 0)),
    ("pads", (2, 2, 3, 5), 17, (1, 0), (2, 3)),
]


def winograd(file):
    """The weights are those of F(2x2, 3x3): G w G', in halves here."""
    factor = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]) / 2
    for name, xs, columns, before, after in WINOGRAD:
        x, w = values("f32", xs, -2, 2), values("f32", (columns, xs[1], 3, 3), -2, 2)
        y = convolve(F.pad(wide(x), torch_pads(before, after)), wide(w), None, (1, 1), (1, 1),
                     1)
        u = (factor @ w.astype(np.float64) @ factor.T).astype(np.float32)
        file.case(f"conv/winograd/{name}", [
            "%0 = conv_winograd %x, %w" + attributes(
                f"columns = {columns}", ints("before", before), ints("after", after)),
            "ret %0"
        ], [("x", "f32", np.moveaxis(x, 1, -1).copy()), ("w", "f32", panels_of(u, 1))],
                  [result("f32", y.movedim(1, -1).contiguous())], (1e-5, 1e-5),
                  dynamic=False)


# name, x, w, stride, dilation, group
QUADS = [
    ("plain", (2, 4, 4, 5), (5, 4, 3, 2), (1, 1), (1, 1), 1),
    ("strides", (1, 8, 6, 7), (17, 8, 2, 3), (3, 2), (2, 1), 1),
    ("group", (2, 8, 4), (20, 4, 2), (1, ), (1, ), 2),
]


def quads_of(w, group):
    """[ceil(O / 16), K / 4, 16, 4] of each group."""
    panels = panels_of(w, group)
    count, depth, _ = panels.shape
    return panels.reshape(count, depth // 4, 4, 16).transpose(0, 1, 3, 2).copy()


def channels_of_bytes(file):
    rng = np.random.default_rng(11)
    for name, xs, ws, stride, before, after, dilation in SINGLE:
        for dtype, low, zero in (("u8", 0, 131), ("i8", -128, -7)):
            x, w = rng.integers(low, low + 256, xs), rng.integers(-255, 256, ws)
            padded = F.pad(torch.from_numpy((x - zero).astype("f8")),
                           torch_pads(before, after))
            y = convolve(padded, torch.from_numpy(w.astype("f8")), None, stride, dilation, ws[0])
            file.case(f"conv/channels/{name}/{dtype}", [
                f"%0 = const {{value = {zero}}} : {dtype}[]", "%1 = conv_channels %x, %w, %0" +
                attributes(*geometry(stride, before, after, dilation)), "ret %1"
            ], [("x", dtype, np.moveaxis(x, 1, -1).astype(NUMPY[dtype])),
                ("w", "f32", np.moveaxis(w[:, 0], 0, -1).astype(np.float32))],
                      [("f32", np.moveaxis(y.numpy(), 1, -1).astype(np.float32))],
                      dynamic=False)


def integers_last(file):
    rng = np.random.default_rng(9)
    for name, xs, ws, stride, dilation, group in QUADS:
        x = rng.integers(0, 256, xs).astype(np.uint8)
        w = rng.integers(-128, 128, ws).astype(np.int8)
        y = convolve(torch.from_numpy(x.astype("f8")), torch.from_numpy(w.astype("f8")), None,
                     stride, dilation, group)
        last = np.moveaxis(x, 1, -1).copy()
        where = (f"strides = {list(stride)}", f"dilations = {list(dilation)}")
        file.case(f"conv/quads/{name}", [
            "%0 = conv_quads %x, %w" + attributes(
                f"kernel = {list(ws[2:])}", f"columns = {ws[0] // group}", *where,
                f"group = {group}"), "ret %0"
        ], [("x", "u8", last), ("w", "i8", quads_of(w, group))],
                  [("i32", np.moveaxis(y.numpy(), 1, -1).astype(np.int32))], dynamic=False)
        if group > 1:
            continue
        unit = np.eye(int(np.prod(ws[1:]))).reshape(-1, *ws[1:])
        order = unit.reshape(len(unit), ws[1], -1).transpose(0, 2, 1).reshape(len(unit), -1)
        unit = unit[np.argsort(order.argmax(1))]
        seen = convolve(torch.from_numpy(x.astype("f8")), torch.from_numpy(unit), None, stride,
                        dilation, 1)
        file.case(f"windows/{name}", [
            "%0 = windows %x" + attributes(f"kernel = {list(ws[2:])}", *where), "ret %0"
        ], [("x", "u8", last)], [("u8", np.moveaxis(seen.numpy(), 1, -1).astype(np.uint8))],
                  dynamic=False)


# name, x, w, stride, crop before, crop after, output padding, dilation, group
TRANSPOSED = [
    ("plain", (1, 2, 3, 4), (2, 3, 3, 3), (1, 1), (0, 0), (0, 0), (1, 1), 1),
    ("strides", (2, 3, 4, 9), (3, 2, 3, 2), (2, 3), (1, 0), (1, 0), (1, 1), 1),
    ("extended", (1, 2, 4, 5), (2, 2, 3, 3), (2, 2), (1, 1), (0, 0), (1, 1), 1),
    ("group", (1, 4, 3, 5), (4, 2, 2, 2), (1, 2), (0, 0), (0, 0), (2, 1), 2),
    ("line", (1, 2, 6), (2, 3, 4), (2, ), (1, ), (1, ), (1, ), 1),
]


def transposed(file):
    for name, xs, ws, stride, before, after, dilation, group in TRANSPOSED:
        x, w = values("f32", xs), values("f32", ws)
        function = [None, F.conv_transpose1d, F.conv_transpose2d][len(stride)]
        extra = [b - a for b, a in zip(before, after)]
        y = function(wide(x), wide(w), None, stride, before, extra, group, dilation)
        file.case(
            f"conv/transposed/{name}", [
                "%0 = conv %x, %w" + attributes(
                    *geometry(stride, before, after,
                              dilation), f"group = {group}", "transposed"), "ret %0"
            ], [("x", "f32", x), ("w", "f32", w)], [result("f32", y)], (1e-5, 1e-5),
            dynamic=group == 1)


# ---- pools ----

# name, x, kernel, stride, pad, dilation, ceil
POOLS = [
    ("plain", (2, 3, 6, 40), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ("pads", (1, 2, 7, 9), (3, 3), (2, 1), (1, 1), (1, 1), False),
    ("ceil", (1, 2, 8, 21), (3, 3), (2, 2), (1, 0), (1, 1), True),
    ("overlap", (1, 1, 5, 33), (3, 4), (1, 1), (1, 2), (1, 1), False),
    ("dilation", (1, 2, 9, 10), (2, 3), (1, 2), (1, 1), (3, 2), True),
    ("line", (2, 2, 11), (3, ), (2, ), (1, ), (1, ), True),
    ("volume", (1, 1, 4, 5, 6), (2, 2, 3), (2, 1, 2), (1, 0, 1), (1, 1, 1), False),
    ("none", (0, 2, 6, 6), (2, 2), (2, 2), (0, 0), (1, 1), False),
]


def pools(file):
    for name, shape, kernel, stride, pad, dilation, ceil in POOLS:
        rank = len(kernel)
        common = [
            ints("kernel", kernel), *geometry(stride, pad, pad, dilation),
            "ceil_mode" if ceil else ""
        ]
        for dtype in ("f32", "f16", "i8") if name == "ceil" else ("f32", ):
            x = values(dtype, shape)
            if dtype == "f32" and x.size:
                x.flat[x.size // 2] = np.nan
            function = [None, F.max_pool1d, F.max_pool2d, F.max_pool3d][rank]
            y, at = function(wide(x).double(), kernel, stride, pad, dilation, ceil, True)
            file.case(f"pool/max/{name}/{dtype}", [
                "%0 = pool %x" + attributes(*common),
                "%1 = pool_indices %x" + attributes(*common), "ret %0, %1"
            ], [("x", dtype, x)], [result(dtype, y), result("i64", at)])
        if max(dilation) > 1:
            continue
        for dtype in ("f32", "f64", "f16") if name == "ceil" else ("f32", ):
            for counts in (False, True):
                x = values(dtype, shape)
                function = [None, F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][rank]
                y = function(wide(x), kernel, stride, pad, ceil, counts)
                file.case(f"pool/average/{name}/{dtype}" + ("/pads" if counts else ""), [
                    "%0 = pool %x" + attributes("op = average", *common,
                                                "count_pad" if counts else ""), "ret %0"
                ], [("x", dtype, x)], [result(dtype, y)], TOLERANCE[dtype])


def adaptive(file):
    for sizes in ((1, 1), (3, 5), (2, 3), (4, 12), (7, 4)):
        x = values("f32", (2, 3, 4, 6))
        y = F.adaptive_avg_pool2d(wide(x), sizes)
        high, at = F.adaptive_max_pool2d(wide(x), sizes, True)
        name = "x".join(map(str, sizes))
        size = ints("sizes", sizes)
        file.case(f"adaptive/{name}", [
            f"%0 = adaptive_pool %x {{{size}}}",
            f"%1 = adaptive_pool %x {{op = max, {size}}}",
            f"%2 = adaptive_pool_indices %x {{{size}}}", "ret %0, %1, %2"
        ], [("x", "f32", x)], [result("f32", y),
                               result("f32", high),
                               result("i64", at)], (1e-5, 1e-6))


# ---- normalisation, attention ----


def norms(file):
    for shape in ((2, 6, 5), (3, 4), (1, 4, 3, 17), (0, 4, 5)):
        for dtype in ("f32", "f16", "f64"):
            x = values(dtype, shape)
            s, b, m = (values(dtype, shape[1:2], 0.5, 2) for _ in range(3))
            v = values(dtype, shape[1:2], 0.5, 2)
            name = "x".join(map(str, shape)) + "/" + dtype
            y = F.batch_norm(wide(x), wide(m), wide(v), wide(s), wide(b), False, 0, 1e-5)
            file.case(f"batch_norm/{name}",
                      ["%0 = batch_norm %x, %s, %b, %m, %v {epsilon = 1e-5}", "ret %0"],
                      [("x", dtype, x), ("s", dtype, s), ("b", dtype, b),
                       ("m", dtype, m), ("v", dtype, v)], [result(dtype, y)],
                      TOLERANCE[dtype])
            y = F.group_norm(wide(x), 2, wide(s), wide(b), 1e-5)
            file.case(f"group_norm/{name}",
                      ["%0 = group_norm %x, %s, %b {groups = 2, epsilon = 1e-5}", "ret %0"],
                      [("x", dtype, x), ("s", dtype, s),
                       ("b", dtype, b)], [result(dtype, y)], TOLERANCE[dtype],
                      dynamic=False)
            w = values(dtype, shape[-1:])
            y = F.rms_norm(wide(x), shape[-1:], wide(w), 1e-5)
            file.case(f"rms_norm/{name}",
                      ["%0 = layer_norm %x, %w {axis = -1, epsilon = 1e-5, rms}", "ret %0"],
                      [("x", dtype, x), ("w", dtype, w)], [result(dtype, y)],
                      TOLERANCE[dtype])


def attention(file):
    for name, lead, rows, keys, mask, causal in (("plain", (2, 3), 5, 7, None, False),
                                                 ("causal", (1, ), 6, 6, None, True),
                                                 ("float", (2, ), 3, 5, "f32", False),
                                                 ("bool", (2, 2), 4, 5, "bool", False),
                                                 ("no-rows", (2, ), 0, 3, None, False),
                                                 ("nan", (2, 2), 4, 5, "bool", False)):
        for dtype in ("f32", "f16"):
            q, k = values(dtype, lead + (rows, 8)), values(dtype, lead + (keys, 8))
            v = values(dtype, lead + (keys, 4))
            inputs = [("q", dtype, q), ("k", dtype, k), ("v", dtype, v)]
            m = None
            if mask:
                m = values(mask if mask == "bool" else dtype, (rows, keys))
                if mask == "bool":
                    m[:, 0], m[1] = True, False
                inputs.append(("m", mask if mask == "bool" else dtype, m))
            t = None if m is None else torch.from_numpy(
                m if mask == "bool" else m.astype(np.float64))
            y = F.scaled_dot_product_attention(wide(q), wide(k), wide(v), t, 0.0, causal,
                                               scale=0.25)
            if mask == "bool":
                y[..., 1, :] = np.nan if name == "nan" else 0
            file.case(f"attention/{name}/{dtype}", [
                "%0 = attention %q, %k, %v" + (", %m" if mask else "") +
                attributes("scale = 0.25", "causal" if causal else "",
                           "empty_nan" if name == "nan" else ""), "ret %0"
            ], inputs, [result(dtype, y)], TOLERANCE[dtype], dynamic=False)


# ---- recurrent layers ----


def recurrent(file):
    kinds = (("lstm", 4, torch.nn.LSTM, {}), ("gru", 3, torch.nn.GRU, {}),
             ("tanh", 1, torch.nn.RNN, {}), ("relu", 1, torch.nn.RNN, {
                 "nonlinearity": "relu"
             }))
    for cell, gates, module, options in kinds:
        for time, batch, packed in ((4, 3, False), (1, 1, False), (5, 3, True)):
            layer = module(5, 6, **options).double()
            names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
            shapes = ((gates * 6, 5), (gates * 6, 6), (gates * 6, ), (gates * 6, ))
            weights = [values("f32", s, -1, 1) for s in shapes]
            for name, w in zip(names, weights):
                getattr(layer, name).data = wide(w)
            x = values("f32", (time, batch, 5), -1, 1)
            h, c = (values("f32", (batch, 6), -1, 1) for _ in range(2))
            states = (wide(h)[None], wide(c)[None]) if cell == "lstm" else wide(h)[None]
            lengths = np.array([time, time - 2, 1][:batch], np.int64) if packed else None
            given = wide(x)
            if packed:
                given = torch.nn.utils.rnn.pack_padded_sequence(given,
                                                                torch.tensor(lengths))
            with torch.no_grad():
                y, last = layer(given, states)
            if packed:
                y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, total_length=time)
            last = last if cell == "lstm" else (last, )
            inputs = [("x", "f32", x), ("h", "f32", h)]
            inputs += [("c", "f32", c)] if cell == "lstm" else []
            inputs += [(n, "f32", w) for n, w in zip("wruv", weights)]
            inputs += [("n", "i64", lengths)] if packed else []
            results = ", ".join(f"%{i}" for i in range(1 + len(last)))
            body = f"{results} = rnn " + ", ".join(f"%{n}" for n, _, _ in inputs)
            body += attributes(f"cell = {cell}", "given = 1" if packed else "")
            file.case(f"rnn/{cell}/{time}x{batch}" + ("/packed" if packed else ""),
                      [body, f"ret {results}"], inputs,
                      [result("f32", y)] + [result("f32", s[0]) for s in last],
                      (1e-5, 1e-6), dynamic=False)


# ---- resampling ----


def resampling(file):
    x = values("f32", (2, 3, 5, 7))
    rules = (("nearest", "asymmetric", "nearest = floor", {}),
             ("nearest-exact", "half_pixel", "nearest = round_prefer_ceil", {}),
             ("bilinear", "clamped_half_pixel", "mode = linear", {
                 "align_corners": False
             }), ("bilinear", "align_corners", "mode = linear", {
                 "align_corners": True
             }), ("bicubic", "half_pixel", "mode = cubic, cubic_a = -0.75", {
                 "align_corners": False
             }))
    for mode, position, rule, options in rules:
        for size in ((10, 14), (3, 11), (1, 1), (5, 9)):
            y = F.interpolate(torch.from_numpy(x), size, mode=mode, **options)
            name = "x".join(map(str, size))
            file.case(f"resize/{mode}/{position}/{name}", [
                "%0 = resize %x" + attributes(ints("sizes", (2, 3) + size), rule,
                                              f"coordinates = {position}"), "ret %0"
            ], [("x", "f32", x)], [result("f32", y)], (1e-5, 1e-5), dynamic=False)
    for mode in ("bilinear", "bicubic"):
        y = F.interpolate(torch.from_numpy(x), (3, 4), mode=mode, antialias=True)
        rule = {"bilinear": "linear", "bicubic": "cubic, cubic_a = -0.5"}[mode]
        file.case(f"resize/{mode}/antialias", [
            "%0 = resize %x" + attributes(ints("sizes", (2, 3, 3, 4)), f"mode = {rule}",
                                          "antialias", "exclude_outside"), "ret %0"
        ], [("x", "f32", x)], [result("f32", y)], (1e-4, 1e-4), dynamic=False)
    special = np.ones((1, 2, 5), np.float32)
    special[0, :, 2] = np.nan, np.inf
    aligned, bilinear = rules[3][3], rules[2][3]
    for mode, position, rule, source, options in (
        ("linear", "clamped_half_pixel", "mode = linear", special, bilinear),
        ("linear", "align_corners", "mode = linear", special, aligned),
        ("bicubic", "half_pixel", rules[4][2], special[:, None, :1], bilinear),
        ("bilinear", "half_pixel", "mode = linear, antialias, exclude_outside",
         special[:, :, None], {"antialias": True})):
        for size in (9, 15, 2):
            dims = source.shape[2:-1] + (size, )
            y = F.interpolate(torch.from_numpy(source), dims, mode=mode, **options)
            file.case(f"resize/{mode}/{position}/special/{size}", [
                "%0 = resize %x" + attributes(ints("sizes", source.shape[:2] + dims), rule,
                                              f"coordinates = {position}"), "ret %0"
            ], [("x", "f32", source)], [result("f32", y)], (1e-5, 1e-5), dynamic=False)
    grid = values("f32", (2, 4, 3, 2), -1.5, 1.5)
    for mode, own in (("nearest", "nearest"), ("bilinear", "linear"),
                      ("bicubic", "cubic")):
        for outside in ("zeros", "border", "reflection"):
            for aligns in (False, True):
                y = F.grid_sample(wide(x), wide(grid), mode, outside, aligns)
                file.case(f"grid_sample/{mode}/{outside}" + ("/aligned" if aligns else ""), [
                    "%0 = grid_sample %x, %g" +
                    attributes(f"mode = {own}", f"outside = {outside}",
                               "align_corners" if aligns else ""), "ret %0"
                ], [("x", "f32", x), ("g", "f32", grid)], [result("f32", y)],
                          (1e-5, 1e-5), dynamic=False)


def grid_ends(file):
    """Positions that are not finite, in images (torch's f64 kernel) and in volumes."""
    ends = [0.3, np.nan, np.inf, -np.inf, 1e30, -1e30, 7.0]
    for rank, modes in ((4, "nearest bilinear bicubic"), (5, "nearest bilinear")):
        space = rank - 2
        x = values("f32", (1, 2) + (3, ) * space, -2, 2)
        x[0, 0, 2, 2], x[0, 1, 1, 1] = -np.inf, np.inf
        points = [[v if d == axis else other for d in range(space)] for v in ends
                  for axis in range(space) for other in (0.1, -9.0)]
        grid = np.array(points, np.float32).reshape((1, ) * (rank - 2) + (-1, space))
        for mode in modes.split():
            own = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
            for outside in ("zeros", "border", "reflection"):
                for aligns in (False, True):
                    y = F.grid_sample(wide(x), wide(grid), mode, outside, aligns)
                    file.case(
                        f"grid_sample/ends/{space}/{mode}/{outside}" +
                        ("/aligned" if aligns else ""), [
                            "%0 = grid_sample %x, %g" +
                            attributes(f"mode = {own}", f"outside = {outside}",
                                       "align_corners" if aligns else ""), "ret %0"
                        ], [("x", "f32", x), ("g", "f32", grid)], [result("f32", y)],
                        (1e-5, 1e-5))


# ---- weights: rows in which nothing takes part, caps, a past ----


def empty_rows(file):
    for axis, log in ((-1, False), (0, False), (0, True)):
        x = values("f32", (5, 19))
        x[2] = x[:, 3] = -np.inf
        x[1, 17] = np.nan
        shift = np.max(x.astype(np.float64), axis=axis, keepdims=True)
        e = np.exp(x - np.where(shift == -np.inf, 0, shift))
        sums = e.sum(axis=axis, keepdims=True)
        y = e / np.where(sums == 0, 1, sums)
        file.case(f"softmax/empty/{axis % 2}" + ("-log" if log else ""), [
            "%0 = softmax %x" +
            attributes(f"axis = {axis}", "log" if log else "", "empty_zero"), "ret %0"
        ], [("x", "f32", x)], [("f32", (np.log(y) if log else y).astype(np.float32))],
                  (2e-6, 1e-6))


def scores(file):
    for name, rows, keys, cap, past, masked in (("cap", 3, 5, 2.0, None, None),
                                                ("past", 2, 6, 0, 4, None),
                                                ("masked", 3, 5, 0, None, -2.0),
                                                ("all", 2, 7, 1.5, 3, -1.0)):
        q, k = values("f32", (2, rows, 8)), values("f32", (2, keys, 8))
        v, m = values("f32", (2, keys, 4)), values("bool", (rows, keys))
        inputs = [("q", "f32", q), ("k", "f32", k), ("v", "f32", v)]
        s = 0.25 * q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)
        s = cap * np.tanh(s / cap) if cap else s
        if masked is not None:
            s = np.where(m, s, masked)
            inputs.append(("m", "bool", m))
        if past is not None:
            s = np.where(np.arange(keys) <= np.arange(rows)[:, None] + past, s, -np.inf)
        e = np.exp(s - s.max(-1, keepdims=True))
        y = e / e.sum(-1, keepdims=True) @ v.astype(np.float64)
        file.case(f"attention/{name}/f32", [
            "%0 = attention %q, %k, %v" + (", %m" if masked is not None else "") +
            attributes("scale = 0.25", f"softcap = {cap}" if cap else "",
                       f"masked = {masked}" if masked is not None else "",
                       "causal" if past is not None else "",
                       f"past = {past}" if past is not None else ""), "ret %0"
        ], inputs, [("f32", y.astype(np.float32))], TOLERANCE["f32"], dynamic=False)


def main():
    file = File("network.txt", "Neural networks.  Written by generate_network.py.")
    for part in (convolutions, transposed, pools, adaptive, norms, attention, recurrent,
                 resampling, empty_rows, scores, channels_last, integers_last,
                 channels_of_bytes, grid_ends, winograd):
        part(file)
    file.write()


if __name__ == "__main__":
    main()
