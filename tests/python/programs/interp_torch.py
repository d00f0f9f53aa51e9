"""What embedded interpreters' module torch and torch itself agree on: runs with either.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import math
import pickle
import sys

import torch
from torch import nn
from torch.nn import functional as F

IS_OURS = "ingot" in torch.__version__


def near(got, want, tolerance=1e-6):
    got = got.tolist() if isinstance(got, torch.Tensor) else got
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want), (got, want)
        for g, w in zip(got, want):
            near(g, w, tolerance)
        return
    assert got == want or abs(got - want) <= tolerance * max(1, abs(want)), (got, want)


def refuses(kind, words, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"{function} did not refuse")


def test_making():
    x = torch.tensor([[1, 2], [3, 4]])
    assert x.dtype is torch.int64 and x.shape == (2, 2) and x.size(0) == 2
    assert torch.tensor([True, False]).dtype is torch.bool
    assert torch.tensor(2.5).item() == 2.5 and torch.tensor([]).shape == (0,)
    assert torch.tensor([[], []]).tolist() == [[], []]
    assert torch.tensor([1, 2.5]).dtype is torch.float32
    near(torch.tensor([1.5, -2.25], dtype=torch.bfloat16), [1.5, -2.25])
    near(torch.tensor([1.5, -2.25]).half(), [1.5, -2.25])
    near(torch.zeros(2, 3), [[0] * 3] * 2)
    near(torch.full((2,), 7.0), [7, 7])
    near(torch.arange(1, 7, 2), [1, 3, 5])
    near(torch.ones([2], dtype=torch.int32) + 1, [2, 2])
    refuses(ValueError, "", torch.tensor, [[1], [2, 3]])


def test_operators():
    x = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    near(x + 1, [[2, -1, 4], [5, 6, -5]])
    near(1 - x, [[0, 3, -2], [-3, -4, 7]])
    near(2 / torch.tensor([4.0, 8.0]), [0.5, 0.25])
    near(2 ** torch.tensor([1.0, 3.0]), [2, 8])
    near(x @ x.t(), [[14, -24], [-24, 77]])
    near(-x.abs().sum(dim=1), [-6, -15])
    near(x.clamp(max=2.0), [[1, -2, 2], [2, 2, -6]])
    assert (x > 0).tolist() == [[True, False, True], [True, True, False]]
    assert bool((x == x).all()) and not (x.mean() > 1)
    near(torch.cat([x, x], dim=1).shape, [2, 6])
    near(torch.tensor([7]) // 2, [3])
    near(torch.tensor([-7]) % 3, [2])
    assert (~torch.tensor([True, False])).tolist() == [False, True]
    near(torch.where(x > 0, x, torch.zeros_like(x)), [[1, 0, 3], [4, 5, 0]])
    near(torch.einsum("ij,kj->ik", x, x), [[14, -24], [-24, 77]])
    assert math.isinf((x * float("inf"))[0, 0].item())
    assert (torch.tensor([1]) + 0.5).dtype is torch.float32
    assert torch.equal(x, x.clone()) and not torch.equal(x, x + 1)
    near(torch.softmax(torch.zeros(1, 4), dim=-1), [[0.25] * 4])


def test_several_results():
    x = torch.tensor([[1.0, 5.0], [7.0, 3.0]])
    high = x.max(dim=1)
    near(high.values, [5, 7])
    assert high.indices.tolist() == [1, 0]
    values, indices = torch.topk(x, 1)
    near(values, [[5], [7]])
    near(x.max(), 7)
    near(torch.max(x, torch.tensor(4.0)), [[4, 5], [7, 4]])
    a, b = x.unbind(0)
    near(b, [7, 3])
    near([r.tolist() for r in x], [[1, 5], [7, 3]])
    assert len(torch.split(x, 1)) == 2 and len(x.chunk(2, dim=1)) == 2
    near(torch.var_mean(x)[1], 4)


def test_indices():
    x = torch.arange(24).reshape(2, 3, 4)
    assert x[1, 2, 3].item() == 23 and x[-1].shape == (3, 4)
    assert x[..., 0].tolist() == [[0, 4, 8], [12, 16, 20]]
    assert x[:, 1:3, ::2].shape == (2, 2, 2) and x[None].shape == (1, 2, 3, 4)
    assert x[:, None, 0].shape == (2, 1, 4)
    assert x[:, torch.tensor([2, 0])].tolist()[1][0] == [20, 21, 22, 23]
    assert x[0, :, [0, 3]].tolist() == [[0, 3], [4, 7], [8, 11]]
    assert x[x > 21].tolist() == [22, 23]
    assert x.view(-1)[5:7].tolist() == [5, 6] and x.view(6, 4).shape == (6, 4)
    assert x.permute(2, 0, 1).shape == (4, 2, 3) and x.T.shape == (4, 3, 2)
    assert [10, 20, 30][torch.tensor(1)] == 20


def test_changes_in_place():
    x = torch.tensor([1.0, 2.0])
    y = x
    x += 1
    near(y, [2, 3])
    x.mul_(2).clamp_(max=5.0)
    near(y, [4, 5])
    y[:] = torch.tensor([8.0, 9.0])
    near(x, [8, 9])
    near(F.relu(torch.tensor([-1.0, 1.0]), inplace=True), [0, 1])
    z = torch.tensor([-1.0, 1.0])
    nn.ReLU(inplace=True)(z)
    near(z, [0, 1])
    refuses(RuntimeError, "cast", torch.tensor([1]).add_, 0.5)
    if IS_OURS:  # whether torch's memory is the same is not told
        row = torch.tensor([[1.0, 2.0]])
        kept = row.reshape(2)
        refuses(NotImplementedError, "reshape", row.add_, 1)
        refuses(NotImplementedError, "reshape", kept.add_, 1)
        del kept
        near(row.add_(1), [[2, 3]])


def test_changes_of_parts():
    x = torch.zeros(3, 4)
    row, column, turned, flat = x[1], x[:, 2], x.t(), x.view(-1)
    x[0, 1] = 5
    x[1] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    near(x, [[0, 5, 0, 0], [1, 2, 3, 4], [0, 0, 0, 0]])
    near(row, [1, 2, 3, 4])
    row[0] = 7
    column += 10
    turned[3].mul_(2)
    near(x, [[0, 5, 10, 0], [7, 2, 13, 8], [0, 0, 10, 0]])
    near(flat, [0, 5, 10, 0, 7, 2, 13, 8, 0, 0, 10, 0])
    flat[4:6] = -1
    near(row, [-1, -1, 13, 8])
    near(turned, [[0, -1, 0], [5, -1, 0], [10, 13, 10], [0, 8, 0]])
    x[x > 9] = 9
    near(column, [9, 9, 9])
    x[:, [0, 3]] = torch.tensor([[1.0], [2.0], [3.0]])
    near(x, [[1, 5, 9, 1], [2, -1, 9, 2], [3, 0, 9, 3]])
    x[torch.tensor([0, 2]), torch.tensor([1, 1])] += 1
    near(x[:, 1], [6, -1, 1])
    x[..., ::2] = 0
    near(x, [[0, 6, 0, 1], [0, -1, 0, 2], [0, 1, 0, 3]])
    a, b = x.split([1, 3], dim=1)
    a.fill_(4)
    b[:, 0].zero_()
    near(x, [[4, 0, 0, 1], [4, 0, 0, 2], [4, 0, 0, 3]])
    for part in x:
        part += part[3].item()
    near(x, [[5, 1, 1, 2], [6, 2, 2, 4], [7, 3, 3, 6]])
    x[1:1] = 3  # nothing
    x[:, 1:2] = x[:, 0:1]
    near(x[:, 1], [5, 6, 7])
    x[2] = torch.ones(1, 4)
    near(x[-1], [1, 1, 1, 1])
    whole = torch.tensor([1, 2, 3])
    whole[1] = 2.75
    assert whole.tolist() == [1, 2, 3]
    flags = torch.tensor([True, False])
    flags[1] = True
    assert flags.all()
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    half[0] = 3
    near(half, [3, 2])
    number = torch.tensor(3.0)
    number.view(1)[0] = 4
    near(number, 4)
    near(torch.zeros(()) + torch.ones(1).reshape(()), 1)
    empty = torch.zeros(0, 3)
    empty[:, 1] = 2
    empty += 1
    assert empty.shape == (0, 3)
    cube = torch.zeros(2, 3, 4)
    cube[0][1] = 5
    cube.transpose(1, 2)[0, 1] += 2
    cube.diagonal(dim1=1, dim2=2)[1].fill_(9)
    cube.unbind(1)[2][..., -1:] = 7
    near(cube, [[[0, 2, 0, 0], [5, 7, 5, 5], [0, 2, 0, 7]],
                [[9, 0, 0, 0], [0, 9, 0, 0], [0, 0, 9, 7]]])
    kept = x.detach()
    kept[0, 0] = -5
    near(x[0, 0], -5)
    doubled = x.double()
    doubled[0] = 0
    near(x[0, 0], -5)
    refuses(IndexError if not IS_OURS else Exception, "", x.__setitem__, 9, 1)
    refuses(RuntimeError if not IS_OURS else Exception, "", x.__setitem__, 0,
            torch.ones(3))
    near(x[0, 0], -5)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.ReLU(), nn.GELU(), nn.Identity()])
        self.scale = nn.Parameter(torch.tensor([2.0, 3.0]))
        self.register_buffer("shift", torch.tensor([1.0, 1.0]))
        self.rows = nn.Sequential(nn.Flatten(), nn.Softmax(dim=-1))

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return self.rows(x * self.scale + self.shift)


def test_modules():
    net = Net().eval()
    assert [n for n, _ in net.named_parameters()] == ["scale"]
    assert sorted(net.state_dict()) == ["scale", "shift"]
    assert not net.parts[0].training and len(net.parts) == 3
    assert [type(m).__name__ for m in net.modules()].count("Softmax") == 1
    x = torch.tensor([[1.0, 2.0]])
    want = net(x)
    near(want.sum(), 1)
    near(pickle.loads(pickle.dumps(net))(x), want.tolist())
    near(copy.deepcopy(net)(x), want.tolist())
    net.scale = nn.Parameter(torch.tensor([0.0, 0.0]))
    near(net(x), [[0.5, 0.5]])
    refuses(AttributeError, "no attribute 'nothing'", lambda: net.nothing)
    with torch.no_grad():
        near(F.dropout(x, 0.5, training=False), [[1, 2]])
    near(F.embedding(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]])), [[2], [1]])
    near(F.max_pool2d(torch.arange(16.0).reshape(1, 1, 4, 4), 2), [[[[5, 7], [13, 15]]]])
    near(F.normalize(torch.tensor([[3.0, 4.0]])), [[0.6, 0.8]])
    if IS_OURS:
        refuses(NotImplementedError, "random", nn.Linear, 2, 3)
        refuses(NotImplementedError, "random", torch.rand, 2)
        refuses(NotImplementedError, "random", F.dropout, x)
        assert not hasattr(x, "no_such_operator") and not hasattr(torch, "no_such_operator")


def test_numpy():
    try:
        import numpy
    except ImportError:
        return
    x = torch.from_numpy(numpy.arange(6, dtype="f4").reshape(2, 3))
    near(x * numpy.float32(2), [[0, 2, 4], [6, 8, 10]])
    near((x + 1).numpy().sum().item(), 21)
    assert isinstance(numpy.asarray(x + 1), numpy.ndarray)
    near(torch.from_numpy(numpy.arange(6.0).reshape(2, 3).T), [[0, 3], [1, 4], [2, 5]])
    near(torch.tensor(numpy.array([1, 2])), [1, 2])


def test_what_models_import():
    """Names that model code asks of torch when it is imported."""
    import torch.autograd.function
    import torch.hub
    import torch.library
    import torch.nn.init
    import torch.types
    import torch.utils.checkpoint

    @torch.jit.unused
    def unused(x):
        return x + 1

    @torch.jit.ignore(drop=True)
    def ignored(x):
        return x + 2

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

    x = torch.tensor([1.0, 2.0])
    near(unused(x) + ignored(x), [5, 7])
    near(Doubled.apply(x), [2, 4])
    near(torch.utils.checkpoint.checkpoint(unused, x, use_reentrant=False), [2, 3])
    near(torch.nn.init.constant_(torch.empty(2), 3.0), [3, 3])
    near(torch.nn.init.calculate_gain("relu"), 2 ** 0.5)
    near(torch.linalg.vector_norm(torch.tensor([3.0, 4.0])).item(), 5)
    near(torch.ops.aten.relu.default(-x), [0, 0])
    near(torch.tensordot(x, x, 1).item(), 5)
    assert torch.jit.annotate(int, 3) == 3 and not torch.jit.is_scripting()
    assert not torch.cuda.is_available() and not torch.compiler.is_compiling()
    assert torch.backends.mps.is_available() is False
    if IS_OURS:
        refuses(NotImplementedError, "random", nn.init.normal_, x)


def test_layers_that_code_makes():
    y = torch.tensor([-0.5, 0.5])
    near(nn.Sequential(nn.ReLU(inplace=True), nn.Dropout(0.5, inplace=True)).eval()(y), [0, 0.5])
    near(y, [0, 0.5])
    layers = nn.Sequential(nn.Identity(), nn.Tanh(), nn.Flatten(0))
    assert [type(m).__name__ for m in layers[1:]] == ["Tanh", "Flatten"]
    assert isinstance(layers[:1], nn.Sequential) and type(layers[0]) is nn.Identity
    listed = nn.ModuleList([nn.ELU(2.0), nn.LeakyReLU(negative_slope=0.1)])
    near([m(torch.tensor([-1.0])).item() for m in listed], [2 * (math.exp(-1) - 1), -0.1])
    named = nn.ModuleDict({"a": nn.GELU()})
    assert list(named.keys()) == ["a"] and named["a"].approximate == "none"
    refuses(TypeError, "", nn.ELU, 1.0, False, 3)
    refuses(TypeError, "beta", nn.ELU, beta=2)


for name, test in sorted(globals().items()):
    if name.startswith("test_") and (len(sys.argv) < 2 or name in sys.argv):
        test()
        print(name)
