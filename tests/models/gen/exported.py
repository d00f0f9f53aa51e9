"""Programs of torch.export with expected values, as cases for `ingot verify --suite`.

    python3 tests/models/gen/exported.py FOLDER [--only NAME]

Each case is a folder with model.pt2 and data sets (tests/models/README says the form).  What
torch computes eagerly is the expected value.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import dataclasses
import json
import os
import typing

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (its operators)
import torch.utils._pytree as pytree
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_op
from torch.export import Dim

CASES = {}


def case(*inputs, dynamic=None, **options):
    """A module; each of `inputs` is a tuple of arguments, the first is exported with."""
    def add(make):
        CASES[make.__name__.lower()] = (make, inputs, dynamic, options)
        return make
    return add


def f32(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


B, L = Dim("B"), Dim("L")


@case((f32(3, 4),), (-f32(5, 4).abs(),), dynamic=({0: B},))
class Cond(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda v: self.a(v).relu(), lambda v: self.b(v) - 1, (x,))


@case((f32(3, 4),), (f32(3, 4, seed=2) * 3,))
class NestedCond(nn.Module):
    def forward(self, x):
        def positive(v):
            return torch.cond(v.max() > 2, lambda u: u * 2, lambda u: u + 10, (v,))
        return torch.cond(x.mean() > 0, positive, lambda v: -v, (x,))


@case((f32(2, 2), torch.tensor(3)), (f32(2, 2), torch.tensor(0)))
class While(nn.Module):
    def forward(self, x, n):
        i, _, v = while_loop(lambda i, n, v: i < n,
                             lambda i, n, v: (i + 1, n.clone(), v * 2 + 1),
                             (torch.zeros((), dtype=torch.int64), n.clone(), x))
        return v, i


@case((f32(4, 3), f32(3)), (f32(7, 3), f32(3, seed=5)), dynamic=({0: B}, None))
class Map(nn.Module):
    def forward(self, xs, y):
        return map_op(lambda x, y: (x * y).cumsum(0), xs, y)


@case((f32(5, 3), f32(3)))
class Scan(nn.Module):
    def forward(self, xs, h):
        return scan(lambda h, x: ((h * 0.5 + x).tanh(), h + x), h, xs)


class Pair(typing.NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


pytree._register_namedtuple(Pair, serialized_type_name="ingot.tests.Pair")


@case((Pair(f32(3, 2), f32(6)),), (Pair(f32(1, 2), f32(2)),),
      dynamic={"p": Pair({0: B}, {0: 2 * B})})
class Records(nn.Module):
    def forward(self, p):
        return Pair(p.x + 1, p.y * 2), collections.OrderedDict(a=p.x * 2), [p.x.sum()]


@case(({"a": f32(2, 3), "b": [f32(2), (f32(3),)]},), ({"a": f32(4, 3), "b": [f32(4), (f32(3),)]},),
      dynamic=({"a": {0: B}, "b": [{0: B}, (None,)]},))
class Nested(nn.Module):
    def forward(self, d):
        return {"sum": d["a"].sum(1) + d["b"][0], "out": (d["a"] * d["b"][1][0],)}


@case((f32(3, 4),), (f32(3, 4, seed=1),), (f32(3, 4, seed=2),), stateful=True)
class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.full((4,), 0.5), persistent=False)

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
        return (x - self.mean) * self.scale, self.count.clone()


@case((f32(3, 4),), (f32(2, 4),), dynamic=({0: B},), decompose=True)
class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.5),
                                 nn.Linear(8, 3), nn.Softmax(-1)).eval()

    def forward(self, x):
        return self.net(x)


@case((f32(2, 3, 8, 8),), (f32(1, 3, 8, 8),), dynamic=({0: B},), decompose=True)
class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                                 nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=4), nn.SiLU(),
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)).eval()

    def forward(self, x):
        return self.net(x)


@case((torch.tensor([1, 2, 4]), torch.tensor([0, 2])), (torch.tensor([0, 3, 3, 1]), torch.tensor([0, 0, 4])),
      dynamic=({0: Dim("ids")}, {0: B}))
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(6, 4, mode="sum")

    def forward(self, ids, offsets):
        return self.table(ids, offsets)


@case((torch.tensor([1, 2, 4]), torch.tensor([0, 2])), (torch.tensor([0, 3, 3, 1]), torch.tensor([0, 0, 4])),
      dynamic=({0: Dim("ids")}, {0: B}), decompose=True)
class BagCore(Bag):
    pass


@case((f32(2, 5, 8),), (f32(3, 4, 8),), dynamic=({0: B, 1: L},))
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()

    def forward(self, x):
        return self.layer(x)


@case((f32(2, 5, 4),), (f32(3, 5, 4),), dynamic=({0: B},))
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(4, 6, batch_first=True), nn.GRU(6, 3, batch_first=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.gru(y)[0], h, c


@case((f32(6, 4),), (f32(9, 4),), dynamic=({0: Dim.AUTO},))
class Sizes(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        return x[: n // 2], torch.arange(n) * n, x.new_zeros(n + 1, n % 3 + 1), x.reshape(-1).shape[0]


@case((f32(5, 4), 3, True, None, 2.5, "mean"), (f32(5, 4, seed=9), 3, True, None, 2.5, "mean"))
class Fixed(nn.Module):
    def forward(self, x, n, flag, nothing, scale, how):
        y = x.mean(1) if how == "mean" else x.sum(1)
        return y * n * scale if flag and nothing is None else y


@case((torch.tensor([[1., 0, 2], [0, 0, 3]]),), (torch.tensor([[0., 0, 0], [7, 0, 0]]),))
class DataSizes(nn.Module):
    def forward(self, x):
        at = x.nonzero()
        torch._check(at.shape[0] <= 6)
        return at, x[x > 1].sum()


@case((f32(3, 4),), (f32(2, 4),), dynamic=({0: Dim.AUTO},))
class InPlace(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1:3] += 1
        y.t()[0].mul_(2)
        y.relu_()
        v = y.view(-1)
        v[0] = 7
        return y, torch.where(y > 1, y, torch.zeros_like(y)), y.masked_fill(y < 0.5, -torch.inf)


@case((f32(3, 4).to(torch.bfloat16), f32(3, 4).half()))
class Halves(nn.Module):
    def forward(self, x, y):
        return (x @ x.t()).float(), (y.float() * 2).half(), x + y


@case((f32(4, 4),), (f32(4, 4, seed=3),), decompose=True, stateful=True)
class StateCore(State):
    pass


@case((f32(3, 4),), (f32(5, 4, seed=1),), dynamic=({0: B},))
class Bits(nn.Module):
    """The same memory as other types: wider, narrower, written through."""
    def forward(self, x):
        y = x * 2
        same = y.view(torch.int32)
        same[:, 1] = 0
        same[0] += 1
        y.expand(1, -1, 4)[0, 1, 2] = 7
        narrow, wide = y.view(torch.uint8), y.view(torch.int64)
        pairs = torch.view_as_real(y.view(torch.complex64))
        halves = narrow.view(torch.bfloat16).view(torch.int16)
        return y, same, narrow, wide, pairs, halves, wide.view(torch.float64).view(torch.int32)


@case((f32(5, 2), torch.tensor(3)), (f32(5, 2, seed=1), torch.tensor(0)), decompose=True)
class Item(nn.Module):
    """aten::_local_scalar_dense."""
    def forward(self, x, n):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= x.shape[0])
        return x[:k].sum(0) * k


@case((torch.arange(-256, 256).to(torch.int8).view(32, 16),))
class IntMm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.arange(128).flip(0).to(torch.int8).view(16, 8))

    def forward(self, x):
        return torch._int_mm(x, self.w)


Q = torch.ops.quantized_decomposed


@case((f32(8, 6) * 3,), (f32(8, 6, seed=2) * 40,))
class Qdq(nn.Module):
    """Integers of PT2E, narrow ranges, another axis: quantized_decomposed::quantize_per_tensor,
    quantized_decomposed::quantize_per_channel, quantized_decomposed::dequantize_per_tensor,
    quantized_decomposed::dequantize_per_channel."""
    def __init__(self):
        super().__init__()
        self.register_buffer("s", torch.tensor([0.1, 0.3, 0.07, 1.5, 0.25, 0.9]))
        self.register_buffer("z", torch.tensor([0, 3, -4, 1, 0, 7]))

    def forward(self, x):
        a = Q.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
        b = Q.quantize_per_tensor(x, 0.1, 140, 10, 200, torch.uint8)
        c = Q.quantize_per_channel(x, self.s, self.z, 1, -7, 7, torch.int8)
        d = Q.quantize_per_channel(x, self.s.double(), self.z.int(), 1, 0, 65535, torch.int32)
        back = Q.dequantize_per_channel(c, self.s, self.z, 1, -7, 7, torch.int8)
        bare = Q.dequantize_per_channel(c, self.s, None, 1, -7, 7, torch.int8)
        half = Q.dequantize_per_tensor(b, 0.1, 140, 10, 200, torch.uint8, out_dtype=torch.float16)
        return a, b, c, d, Q.dequantize_per_tensor(a, 0.05, 3, -128, 127, torch.int8), back, bare, half.float()


@case((f32(4, 16),), (f32(4, 16, seed=3) * 9 - 2,))
class QdqDynamic(nn.Module):
    """Scales that the data choose (quantized_decomposed::choose_qparams,
    quantized_decomposed::choose_qparams_symmetric), and a product of integers."""
    def __init__(self):
        super().__init__()
        self.register_buffer("w", (f32(8, 16, seed=7) * 40).round().clamp(-127, 127).to(torch.int8))
        self.register_buffer("s", torch.rand(8, generator=torch.Generator().manual_seed(5)) / 100)
        self.register_buffer("z", torch.zeros(8, dtype=torch.int64))

    def forward(self, x):
        eps = 1.1920928955078125e-07
        scale, zero = Q.choose_qparams(x, -128, 127, eps, torch.int8)
        q = Q.quantize_per_tensor(x, scale, zero, -128, 127, torch.int8)
        y = Q.dequantize_per_tensor(q, scale, zero, -128, 127, torch.int8)
        w = Q.dequantize_per_channel(self.w, self.s, self.z, 0, -127, 127, torch.int8)
        return (nn.functional.linear(y, w), scale, zero,
                *Q.choose_qparams_symmetric(x, -127, 127, eps, torch.int8))


@case((f32(3),))
class BitsOfThree(nn.Module):
    """As many elements as the number of the type."""
    def forward(self, x):
        return x.view(torch.int32)


@dataclasses.dataclass
class Answer:
    hidden: torch.Tensor
    logits: torch.Tensor = None
    attn: torch.Tensor = None
    past: list = None


class Model(collections.OrderedDict):
    """As transformers' ModelOutput."""


torch.export.register_dataclass(Answer, serialized_type_name="own.Answer")
pytree.register_pytree_node(Model, lambda m: (list(m.values()), list(m.keys())),
                            lambda values, keys: Model(zip(keys, values)),
                            serialized_type_name="own.Model")


@case((f32(2, 3), Answer(f32(2, 3), past=[f32(3), f32(1)])))
class Named(nn.Module):
    def forward(self, x, answer):
        made = collections.defaultdict(list)
        made["k"] = x + answer.hidden
        made["l"] = [x + answer.past[0], answer.past[1]]
        return (Answer(x * 2, logits=x * 3), Answer(x * 4), made, Model([("m", x * 5)]),
                collections.OrderedDict([("p", x + 1), ("q", x + 2)]), {"z": {1: x, 2: -x}})


try:
    from torchrec import JaggedTensor, KeyedJaggedTensor, KeyedTensor
except ImportError:  # a case needs it to be made anew
    JaggedTensor = KeyedJaggedTensor = KeyedTensor = ()
else:
    LENGTHS, IDS = torch.tensor([2, 0, 1, 3]), torch.arange(6)
    OFFSETS = torch.nn.functional.pad(LENGTHS.cumsum(0), (1, 0))

    @case((KeyedJaggedTensor(["a", "b"], IDS, f32(6), offsets=OFFSETS),
           KeyedJaggedTensor(["c"], IDS, lengths=LENGTHS)))
    class Jagged(nn.Module):
        """Of one the program wants offsets, of the other lengths."""
        def forward(self, k, l):
            sums = torch.ops.fbgemm.segment_sum_csr(1, k.offsets(), k.weights())
            return (k, JaggedTensor(l.values() + 1, lengths=l.lengths()),
                    KeyedTensor(["one"], [4], sums.view(1, 4)), l.values() * 2)

    @case((f32(6, 2), LENGTHS), (f32(6, 2, seed=4), torch.tensor([6, 0, 0, 0])))
    class JaggedLists(nn.Module):
        """Operators that give a tensor and a list of tensors."""
        def forward(self, x, lengths):
            offsets = torch.ops.fbgemm.asynchronous_complete_cumsum(lengths)
            dense = torch.ops.fbgemm.jagged_to_padded_dense(x, [offsets], [3])
            short, offs = torch.ops.fbgemm.dense_to_jagged(dense + 1, [offsets], 6)
            both, more = torch.ops.fbgemm.jagged_dense_elementwise_add_jagged_output(x, [offsets], dense)
            return dense, short, offs[0] * 2, both, more[0]


# ---- writing ----


@case((f32(3, 2),), (f32(3, 2, seed=1) * 1e3,))
class Complexes(nn.Module):
    """Numbers with an imaginary part beside tensors, on both sides."""
    def forward(self, x):
        z = torch.view_as_complex(x)
        return torch.view_as_real((z * (1 - 2j) + 3j) / (2 + 0.5j)), torch.view_as_real(1j * z)

D = Dim("D", max=100)


@case((f32(6, 4), f32(7, 2), f32(10, 3)), (f32(2, 4), f32(3, 2), f32(6, 3)),
      (f32(22, 4), f32(23, 2), f32(26, 3)),
      dynamic=({0: 2 * D}, {0: 2 * D + 1}, {0: 2 * D + 4}))
class Derived(nn.Module):
    """Extents of which none is the Dim that they are made of."""

    def forward(self, x, y, z):
        pairs = x.reshape(-1, 2, 4).sum(1)
        return pairs, y[1:] - x[:, :2], z[4:].reshape(pairs.size(0), 6) * pairs.size(0)


@case((f32(2, 3, 7),), (f32(1, 6, 10),), dynamic=({0: Dim.DYNAMIC, 1: Dim.DYNAMIC, 2: Dim.DYNAMIC},),
      decompose=True)
class Spectra(nn.Module):
    """Transforms along extents that the run knows, taken apart."""

    def forward(self, x):
        half = torch.fft.rfft2(x, norm="ortho")
        whole = torch.fft.fftn(x, dim=(0, 2))
        return torch.fft.irfft2(half, s=x.shape[-2:]), torch.view_as_real(torch.fft.ifft(whole))


def f64(*shape, seed=0):
    return f32(*shape, seed=seed).double()


@case((f64(2, 1, 6, 5),), (f64(3, 1, 6, 7, seed=1),),
      dynamic=({0: B, 3: Dim("W")},), rtol=1e-12)
class Wide(nn.Module):
    """Resized f64 has its places and weights in f64."""
    def forward(self, x):
        linear = nn.functional.interpolate(x, scale_factor=1.7, mode="bilinear")
        sized = nn.functional.interpolate(x, size=(9, 8), mode="bilinear")
        cubic = nn.functional.interpolate(x, size=(9, 8), mode="bicubic",
                                          align_corners=True)
        smooth = nn.functional.interpolate(x, size=(4, 3), mode="bicubic",
                                           antialias=True)
        return linear, sized, cubic, smooth


@case((f32(5),), (f32(5, seed=1),))
class Windows(nn.Module):
    def forward(self, x):
        whole = [torch.hann_window(5, periodic=False), torch.hamming_window(5, False, 0.6),
                 torch.hamming_window(5, False, 0.6, 0.3), torch.blackman_window(5, False),
                 torch.bartlett_window(5, False), torch.kaiser_window(5, False, 3.0)]
        periodic = [torch.hann_window(5), torch.hamming_window(5), torch.blackman_window(5),
                    torch.bartlett_window(5), torch.kaiser_window(5, dtype=torch.float64),
                    torch.kaiser_window(5, False), torch.hamming_window(5, True)]
        ends = [torch.hann_window(1, periodic=False), torch.kaiser_window(0)]
        return [x * w for w in whole + periodic], ends


@case((f32(3, 4), torch.tensor([1, 0, 3])), (f32(3, 4, seed=1), torch.tensor([2, 2, 0])))
class Margins(nn.Module):
    def forward(self, x, y):
        weight = torch.tensor([0.5, 1.0, 2.0, 3.0])
        more = {"p": 2, "margin": 0.5, "weight": weight, "reduction": "none"}
        return (torch.nn.functional.multi_margin_loss(x, y),
                torch.nn.functional.multi_margin_loss(x, y, **more),
                torch.nn.functional.multi_margin_loss(x[0], y[0], reduction="none"))


def node_of(value, arrays, prefix):
    if isinstance(value, torch.Tensor):
        arrays.append(value)
        return {"tensor": len(arrays) - 1, "dtype": str(value.dtype)[6:], "shape": list(value.shape)}
    if value is None:
        return {"none": True}
    if isinstance(value, KeyedTensor):
        return {"kt": {"keys": value.keys(), "length_per_key": value.length_per_key(),
                       "values": node_of(value.values(), arrays, prefix)}}
    if isinstance(value, (KeyedJaggedTensor, JaggedTensor)):
        keyed = {"keys": value.keys()} if isinstance(value, KeyedJaggedTensor) else {}
        weights = value.weights_or_none()
        return {"kjt" if keyed else "jt": {
            **keyed, "values": node_of(value.values(), arrays, prefix),
            "lengths": node_of(value.lengths(), arrays, prefix),
            "weights": None if weights is None else node_of(weights, arrays, prefix)}}
    if dataclasses.is_dataclass(value):
        return {"dict": [[f.name, node_of(getattr(value, f.name), arrays, prefix)]
                         for f in dataclasses.fields(value) if getattr(value, f.name) is not None]}
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str")):
        if isinstance(value, kind):
            return {name: value}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"namedtuple": [[k, node_of(v, arrays, prefix)] for k, v in zip(value._fields, value)]}
    if isinstance(value, dict):
        return {"dict": [[k, node_of(v, arrays, prefix)] for k, v in value.items()]}
    kind = "list" if isinstance(value, list) else "tuple"
    return {kind: [node_of(v, arrays, prefix) for v in value]}


def write_arrays(folder, prefix, arrays):
    for i, tensor in enumerate(arrays):
        tensor = tensor.detach().contiguous()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.view(torch.int16).numpy().view(np.uint16)
        np.save(os.path.join(folder, f"{prefix}_{i}.npy"), np.asarray(tensor))


def mark_halves(node, arrays):
    """bfloat16 is stored as its bits."""
    if isinstance(node, dict):
        if node.get("dtype") == "bfloat16":
            node["stored_as"] = "uint16"
        for value in node.values():
            mark_halves(value, arrays)
    elif isinstance(node, list):
        for value in node:
            mark_halves(value, arrays)


def write_set(folder, module, inputs):
    os.makedirs(folder, exist_ok=True)
    given, got = [], []
    args = [node_of(v, given, "input") for v in inputs]
    write_arrays(folder, "input", given)
    result = node_of(module(*inputs), got, "output")
    mark_halves(args, given)
    mark_halves(result, got)
    write_arrays(folder, "output", got)
    with open(os.path.join(folder, "values.json"), "w") as out:
        json.dump({"method": "forward", "args": args, "result": result}, out)


def symmetric(count, seed):
    x = f32(count, 3, 3, seed=seed)
    return x @ x.mT + torch.eye(3)


@case((symmetric(4, 0), f32(4, 3, 2)), (symmetric(1, 3), f32(1, 3, 2, seed=4)),
      dynamic=({0: B}, {0: B}), decompose=True)
class Effects(nn.Module):
    """Checks of matrices that are raised in the order of tokens."""

    def forward(self, a, b):
        return torch.linalg.inv(a) @ b, torch.cholesky_solve(b, torch.linalg.cholesky(a))


@case((f32(5, 2), torch.tensor([0, 2, 2, 5])), (f32(5, 2, seed=1), torch.tensor([0, 0, 3, 5])))
class Padded(nn.Module):
    def forward(self, x, offsets):
        y = torch.ops.aten._jagged_to_padded_dense_forward(x, [offsets], [3], -1.0)
        back = torch.ops.aten._padded_dense_to_jagged_forward(y * 2, [offsets], 5)
        return y, back


@case((torch.arange(40, dtype=torch.uint8).reshape(5, 8) * 6,
       torch.arange(-12, 12, dtype=torch.int8).reshape(8, 3) * 10))
class Bytes(nn.Module):
    def forward(self, x, w):
        return torch._int_mm(x, w)


def ends(*shape, seed=0):
    """With NaN, infinities and -0 among them."""
    x = f32(*shape, seed=seed)
    x.view(-1)[::5][:4] = torch.tensor([float("nan"), float("inf"), -0.0, float("-inf")])
    return x


@case((f32(3, 4, 5), f32(3, 6)), (ends(2, 4, 5, seed=1), f32(2, 6, seed=2)), dynamic=({0: B}, {0: B}))
class Mapped(nn.Module):
    """torch.vmap, also of values that no axis is taken from."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(f32(5, 2, seed=3))

    def forward(self, x, y):
        def inner(a, b):
            return a @ self.w * b.sum(), y[:, :2] + 1

        first, second = torch.vmap(inner)(x, y)
        third = torch.vmap(lambda a: a.softmax(-1).cumsum(0))(x)
        return first, second, third, torch.vmap(lambda a: a[a[:, 0].argmax()])(x)


@case((ends(3, 6),), (f32(3, 6, seed=1),))
class TreeScan(nn.Module):
    """associative_scan as it is written out: vmaps of halves, one of them empty."""

    def forward(self, x):
        return associative_scan(lambda a, b: torch.maximum(a, b), x, 1, reverse=True,
                                combine_mode="generic")


@case((f32(3, 4, 5),), (ends(1, 4, 5, seed=1),), (f32(2, 4, 5, seed=2),), dynamic=({0: B},))
class PairScan(nn.Module):
    """The operator itself, which torch runs in compiled programs alone."""

    def forward(self, x):
        mode = "pointwise" if torch.compiler.is_compiling() else "generic"

        def step(a, b):
            return a[0] * b[0], a[1] * b[0] + b[1]

        return (*associative_scan(step, (x.sigmoid(), x), 1, combine_mode=mode),
                associative_scan(lambda a, b: a + b, x[:, :1], 1, combine_mode=mode))


@case((f32(4, 3),), (ends(7, 3, seed=1),), dynamic=({0: B},))
class LongScan(nn.Module):
    """Along an open extent."""

    def forward(self, x):
        mode = "pointwise" if torch.compiler.is_compiling() else "generic"
        return associative_scan(lambda a, b: a * b, x, 0, combine_mode=mode)


def write_case(folder, name):
    make, inputs, dynamic, options = CASES[name]
    torch.manual_seed(len(name))
    module = make().eval()
    program = torch.export.export(module, inputs[0], dynamic_shapes=dynamic)
    if options.get("decompose"):
        program = program.run_decompositions()
    for node in program.graph.nodes:
        for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn"):
            node.meta.pop(key, None)
    os.makedirs(folder, exist_ok=True)
    torch.export.save(program, os.path.join(folder, "model.pt2"))
    rtol = options.get("rtol", 1e-4)
    facts = {"name": name, "tolerance": {"rtol": rtol, "atol": rtol / 10}}
    if options.get("stateful"):
        facts["stateful"] = True
    with open(os.path.join(folder, "case.json"), "w") as out:
        json.dump(facts, out)
    for i, args in enumerate(inputs):
        write_set(os.path.join(folder, f"test_data_set_{i}"), module, args)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only", help="the one case of this name")
    given = parser.parse_args()
    for name in CASES:
        if given.only in (None, name):
            write_case(os.path.join(given.folder, name), name)


if __name__ == "__main__":
    main()
