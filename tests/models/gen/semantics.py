"""TorchScript programs about what is easy to get wrong: views and writes through them,
aliases that the run chooses, containers, state, Python's numbers, control flow.

SPDX-License-Identifier: Apache-2.0

    semantics.py OUT_DIR

Writes OUT_DIR/semantics/KIND/NAME with model.pt, case.json and test_data_set_K, which
`ingot verify` reads; expected values are those of the archive loaded by torch again.
KIND says in which forms a case passes: all; closed: not with open extents; state: a
sequence of calls; growing: one with open extents; refused: none, with words at import.
Stored without debug information as tests/models/semantics.tar.xz.  Needs torch.
"""

import json
import math
import pathlib
import sys
import warnings
import zipfile
from typing import Any, Dict, List, Optional, Tuple, Union

warnings.filterwarnings("ignore")

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch._inductor.inductor_prims  # noqa: F401  (its operators)

from values_json import node_of, np

T = torch.Tensor
PROGRAMS = []


def program(kind, *sets, atol=1e-5):
    def add(made):
        PROGRAMS.append((kind, made, sets, atol))
        return made
    return add


def R(*shape, n=1, dt=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(n)).to(dt)


def clone(value):
    return value.clone() if isinstance(value, torch.Tensor) else (
        type(value)(clone(item) for item in value) if isinstance(value, (list, tuple)) else
        {key: clone(item) for key, item in value.items()} if isinstance(value, dict) else value)


def save_tensors(folder, name, tensors):
    for index, tensor in enumerate(tensors):
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.view(torch.int16)
            array = tensor.contiguous().numpy().view(np.uint16)
        else:
            array = tensor.contiguous().numpy()
        np.save(folder / f"{name}_{index}.npy", array)


def write_call(folder, given, after, result):
    """One data set, with what the arguments have become."""
    folder.mkdir()
    inputs, changed, outputs = [], [], []
    values = {"method": "forward", "args": [node_of(item, inputs) for item in given],
              "result": strings_of(node_of(result, outputs))}
    [node_of(item, changed) for item in after]
    mutated = [k for k, old in enumerate(inputs) if not torch.equal(
        torch.nan_to_num(old), torch.nan_to_num(changed[k]))]
    if mutated:
        values["mutated_inputs"] = mutated
        for k in mutated:
            np.save(folder / f"after_input_{k}.npy", changed[k].contiguous().numpy())
    (folder / "values.json").write_text(json.dumps(values))
    save_tensors(folder, "input", inputs)
    save_tensors(folder, "output", outputs)


def strings_of(node):
    """Infinities and NaN as strings: JSON has none."""
    if isinstance(node, dict):
        return {key: repr(item) if key == "float" and not math.isfinite(item) else
                strings_of(item) for key, item in node.items()}
    return [strings_of(item) for item in node] if isinstance(node, list) else node


def strip(path):
    """The archive without debug information, stored: tar.xz packs it."""
    with zipfile.ZipFile(path) as old:
        entries = [(name, old.read(name)) for name in old.namelist()
                   if not name.endswith(".debug_pkl") and "/.data/ser" not in name]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name, content in entries:
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)


def write_case(out, kind, made, sets, atol):
    folder = out / kind / made.__name__
    folder.mkdir(parents=True)
    module = made() if isinstance(made, type) else made
    if isinstance(module, nn.Module) and not getattr(module, "keep_train", False):
        module.eval()
    torch.jit.save(torch.jit.script(module), str(folder / "model.pt"))
    strip(folder / "model.pt")
    is_state = isinstance(made, type)
    loaded = torch.jit.load(str(folder / "model.pt"))
    for index, given in enumerate(sets):
        if not is_state:
            loaded = torch.jit.load(str(folder / "model.pt"))
        after = clone(given)
        with torch.no_grad():
            result = loaded(*after)
        write_call(folder / f"test_data_set_{index}", given, after, result)
    case = {"name": made.__name__, "model": "model.pt",
            "tolerance": {"rtol": 1e-4, "atol": atol}, "stateful": is_state}
    (folder / "case.json").write_text(json.dumps(case))


X, Y, P, N = R(3, 4), R(2, 5, n=2), R(3, 4).abs(), -R(3, 4).abs()
BOTH = ((X,), (Y,))
SIGNS = ((P,), (N,), (X,), (-X,))
CALLS = ((X,), (X + 1,), (X * 2,))
LONGER = ((R(1, 4),), (R(2, 4, n=5),), (R(1, 4, n=7),), (R(1, 4),))

# ---- programs ----


@program("all", *BOTH)
def v_slice_step(x: T):
    y = x.clone()
    v = y[:, ::2]
    v.mul_(2.0)
    w = y[::2]
    w += 1
    return (y, v, w)


@program("all", *BOTH)
def v_double_view(x: T):
    y = x.clone()
    a = y.t()
    b = a[1:]
    b.zero_()
    c = b.t()
    c += 3
    return (y, a, b, c)


@program("all", *BOTH)
def v_copy_overlap(x: T):
    y = x.clone()
    y[:, 1:] = y[:, :-1].clone()
    z = x.clone()
    z[:, 1:].copy_(z[:, :1].expand_as(z[:, 1:]))
    return (y, z)


@program("all", *BOTH)
def v_iadd_alias(x: T):
    a = x * 1
    b = a
    a += 1
    a = a + 1
    return (a, b)


@program("closed", *BOTH)
def v_expand_read(x: T):
    a = x[:1].clone()
    e = a.expand(4, x.size(1))
    a.add_(1)
    return (e, e.sum(0), e.contiguous())


@program("all", *BOTH)
def v_unsq_write(x: T):
    a = x.clone()
    b = a.unsqueeze(0).unsqueeze(2)
    b[0, :, 0, 1] = 7
    s = b.squeeze(0).squeeze(1)
    s[0] = 9
    return a


@program("closed", *BOTH)
def v_diag(x: T):
    a = x.clone()
    d = a.diagonal(0, 0, 1)
    d.add_(10)
    d2 = torch.diagonal(a, 1)
    d2.mul_(0)
    return (a, d)


@program("closed", *BOTH)
def v_split_write(x: T):
    a = x.clone()
    p = a.split(1, 1)
    p[0].fill_(5)
    p[1].add_(p[0])
    c = a.chunk(2, 0)
    c[0].neg_()
    return (a, p[0], p[1])


@program("closed", *BOTH)
def v_unbind_write(x: T):
    a = x.clone()
    r = a.unbind(0)
    r[0].add_(r[1])
    r[1][0] = 100.0
    return a


@program("all", *BOTH)
def v_select_neg(x: T):
    a = x.clone()
    a[-1] = a[0]
    a[:, -1] += a[:, 0]
    a[-2:, -2:] = 0
    return a


@program("all", *BOTH)
def v_mask_write(x: T):
    a = x.clone()
    a[a > 0] = 0
    a[a < -0.5] *= 2
    a.masked_fill_(a == 0, 3)
    return a


@program("all", *BOTH)
def v_view_of_flat(x: T):
    a = x.clone()
    f = a.view(-1)
    f[0] = 1
    f[3:5] = 2
    a.view(-1)[1::2].mul_(10)
    return (a, f)


@program("closed", *BOTH)
def v_reshape_t(x: T):
    a = x.clone()
    r = a.t().reshape(-1)
    r[0] = 99
    return (a, r)


@program("all", *BOTH)
def v_detach_alias(x: T):
    a = x.clone()
    d = a.detach()
    d.add_(1)
    e = a.data
    e.mul_(2)
    return (a, d)


@program("all", *BOTH)
def v_set_out(x: T):
    a = x.clone()
    a[...] = 1.5
    b = x.clone()
    b[..., 0] = 2
    b[None, 0] = 3
    return (a, b)


@program("all", *BOTH)
def v_index_put_dup(x: T):
    a = x.clone()
    i = torch.tensor([0, 1, 0])
    a.index_put_((i,), torch.ones(3, x.size(1)), accumulate=True)
    a.index_add_(0, torch.tensor([1, 1]), torch.ones(2, x.size(1)), alpha=2)
    return a


@program("all", *BOTH)
def v_fancy_is_copy(x: T):
    a = x.clone()
    b = a[torch.tensor([0, 1])]
    b.add_(1)
    c = a[:, torch.tensor([1, 0])]
    c.zero_()
    return (a, b, c)


@program("all", *BOTH)
def v_int_inplace_float(x: T):
    a = (x * 10).long()
    a.mul_(2).add_(True)
    b = a.clone()
    b.clamp_(-5, 7)
    b.floor_divide_(3)
    return (a, b)


@program("all", *BOTH)
def v_swap(x: T):
    a = x.clone()
    b = a[0].clone()
    a[0] = a[1]
    a[1] = b
    c = x.clone()
    c[0], c[1] = (c[1], c[0])
    return (a, c)


@program("all", *BOTH)
def v_list_of_views(x: T):
    a = x.clone()
    l = [a[i] for i in range(2)]
    l[0].fill_(1.0)
    l.append(a)
    l[-1][1] = 4.0
    return (a, torch.stack(l[:2]))


@program("all", *BOTH)
def v_transpose_(x: T):
    a = x.clone()
    b = a
    a.transpose_(0, 1)
    return (a, b)


@program("all", *BOTH)
def v_unsqueeze_(x: T):
    a = x.clone()
    b = a
    a.unsqueeze_(0)
    c = b
    c.squeeze_(0)
    return (a, b, c)


@program("refused", *BOTH)
def v_resize_view(x: T):
    a = x.clone()
    s = a.stride()
    b = a.t()
    return (s, b.stride(), b.is_contiguous(), b.contiguous().stride(), a[:, 1:].stride(), a[:, 1:].storage_offset())


@program("all", *BOTH)
def v_as_strided(x: T):
    a = x.clone()
    b = torch.as_strided(a, [2, 2], [1, 2], 1)
    c = b + 1
    return (b, c)


@program("all", (R(2, 3, 4),), (R(3, 2, 5, n=3),))
def v_permute_write(x: T):
    a = x.clone()
    p = a.permute(2, 0, 1)
    p[0] = 1
    p[:, 1] += 2
    q = p.reshape(p.size(0), -1)
    q[0, 0] = 50
    return (a, p, q)


@program("closed", (R(2, 3, 4),), (R(3, 2, 5, n=3),))
def v_flatten_write(x: T):
    a = x.clone()
    f = a.flatten(1)
    f[:, 0] = 7
    g = a.flatten()
    g[-1] = 8
    h = a.transpose(1, 2).flatten(1)
    h[:, 0] = 1000
    return (a, h)


@program("all", (R(2, 3, 4),))
def v_movedim(x: T):
    a = x.clone()
    m = a.movedim(0, 2)
    m[0] = 1
    n = a.swapaxes(0, 1)
    n[2] = 0
    return a


@program("all", (R(2, 3, 4),))
def v_unfold_read(x: T):
    a = x.clone()
    u = a.unfold(2, 2, 1)
    a.add_(1)
    return (u, u.sum(-1))


@program("all", *BOTH)
def v_narrow_copy(x: T):
    a = x.clone()
    n = a.narrow(1, 1, 2)
    n.copy_(torch.zeros(2))
    k = torch.narrow_copy(a, 0, 0, 1)
    k.add_(1)
    return (a, k)


@program("all", *BOTH)
def v_fill_diag(x: T):
    a = x.clone()
    a.fill_diagonal_(3.0)
    return a


@program("all", (R(6, 3),))
def v_fill_diag_wrap(x: T):
    a = x.clone()
    a.fill_diagonal_(3.0, wrap=True)
    b = x.clone()
    b.fill_diagonal_(2.0)
    return (a, b)


@program("all", *BOTH)
def v_arg_mutate(x: T):
    x.add_(1)
    y = x[0]
    y.mul_(2)
    return y


@program("all", *BOTH)
def v_arg_mutate_ret(x: T):
    v = x[:, 1:]
    v.zero_()
    return (x, v)


@program("all", *BOTH)
def v_where_alias(x: T):
    y = torch.where(x > 0, x, -x)
    y.add_(1)
    return (x, y)


@program("all", *BOTH)
def v_to_alias(x: T):
    a = x.clone()
    b = a.to(torch.float32)
    b += 1
    c = a.to(torch.float64)
    c += 1
    d = a.float()
    d += 1
    e = a.contiguous()
    e += 1
    return (a, b, c, d, e)


@program("all", *BOTH)
def v_type_as_alias(x: T):
    a = x.clone()
    b = a.type_as(a)
    b += 1
    c = a.reshape(a.shape)
    c += 1
    d = a.expand_as(a)
    d += 1
    return a


@program("all", *BOTH)
def v_dropout_alias(x: T):
    a = x.clone()
    b = torch.nn.functional.dropout(a, 0.5, False)
    b += 1
    return (a, b)


@program("refused", *BOTH)
def v_chunk_expand(x: T):
    a = x[:, :1].clone()
    b = a.expand(a.size(0), 3).clone()
    b[:, 0] = 5
    return (a, b)


@program("closed", *BOTH)
def v_clone_expand_strides(x: T):
    a = x[:, :1].expand(x.size(0), 3)
    b = a.clone()
    c = a.contiguous()
    c[0, 0] = 9
    return (a, b, c, c.stride())


@program("all", *BOTH)
def v_sort_inplace(x: T):
    a = x.clone()
    v, i = a.sort(1)
    v[:, 0] = 0
    return (a, v, i)


@program("all", *BOTH)
def v_cumsum_(x: T):
    a = x.clone()
    a.cumsum_(0)
    a[:, 1:].cumsum_(1)
    return a


@program("all", *BOTH)
def v_exp_chain(x: T):
    a = x.clone()
    b = a[0].exp_()
    c = b.log_().add_(1)
    a[1].sub_(c)
    return (a, b, c)


@program("all", *BOTH)
def v_lerp_addc(x: T):
    a = x.clone()
    a.lerp_(torch.ones_like(a), 0.5).addcmul_(x, x, value=2).addcdiv_(x, x.abs() + 1)
    return a


@program("all", *BOTH)
def v_scatter_(x: T):
    a = x.clone()
    i = torch.zeros(1, 2, dtype=torch.long)
    a.scatter_(1, i + 1, 5.0)
    a.scatter_add_(0, i, torch.ones(1, 2))
    return a


@program("all", *BOTH)
def v_zero_len_slice(x: T):
    a = x.clone()
    a[1:1] = 5
    a[:, 3:1] += 2
    b = a[5:]
    return (a, b, b.sum(), b.shape)


@program("all", *BOTH)
def v_bool_index_2d(x: T):
    m = x > 0
    a = x[m]
    b = x.clone()
    b[m] = torch.arange(a.size(0)).float()
    return (a, b)


@program("all", *BOTH)
def v_none_ellipsis(x: T):
    return (x[None], x[..., None], x[:, None, 1:], x[0, ..., 0], x[None, ..., None, 0:1])


@program("all", (R(4, 4),))
def v_triu_(x: T):
    a = x.clone()
    a.triu_(1)
    b = x.clone()
    b.tril_()
    b.t()[0] = 1
    return (a, b)


@program("all", (7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0), (0.0, -3.0), (1e+300,
         1e-10))
def n_float(a: float, b: float):
    return (a // b, a % b, a / b, a - b, a * b, abs(a), -a, a > b, a == b, a != a)


@program("all", (3.7,), (-3.7,), (0.0,), (-0.0,), (10000000000.0,))
def n_conv(a: float):
    return (int(a), bool(a), str(int(a)), float(int(a)), math.copysign(1.0, a), math.fabs(a))


@program("all", (2 ** 63 - 1,), (-2 ** 63,), (2 ** 62,))
def n_overflow(a: int):
    return (a + 1, a * 2, a - 2, -a, a * a)


@program("all", (5, 2), (9, 3))
def n_div(a: int, b: int):
    return (a / b, float(a) / b, a // b, divmod(a, b), (a + 0.0) // b, a ** b, a ** (-b), float(a) ** 0.5)


@program("all", (5, 2.5), (-9, 3.5))
def n_mixed(a: int, b: float):
    return (a / b, a // b, a % b, a * b, a - b, a + b, a < b, a >= b, max(a, b), min(a, b), a ** 2.0)


@program("all", (True, False), (True, True))
def n_bool(a: bool, b: bool):
    return (int(a) + int(b), a and b, a or b, not a, a == b, a != b, int(a) * 3, float(a))


@program("all", (10,), (1,), (0,))
def n_range(n: int):
    t = 0
    l: List[int] = []
    for i in range(n):
        t += i
    for i in range(n, 0, -3):
        l.append(i)
    for i in range(2, n, 4):
        l.append(i * 10)
    return (t, l)


@program("all", (12, 18), (0, 4), (-8, 6))
def n_gcd(a: int, b: int):
    return (math.gcd(a, b), math.factorial(5), max(a, b), min(a, b), max([a, b, 3]), sum([a, b, 3]), min([a, b]), abs(a - b), pow(2, 5))


@program("all", (X,))
def n_tensor_item(x: T):
    a = float(x[0, 0])
    b = int(x[0, 1] * 10)
    c = bool(x[1, 1] > 0)
    d = x[1, 2].item()
    return (a * 2, b // 3, b % 3, c, x * a + b)


@program("all", (torch.tensor(7), torch.tensor(-2)), (torch.tensor(-7), torch.tensor(2)))
def n_tensor_int(a: T, b: T):
    i = int(a)
    j = int(b)
    return (i // j, i % j, a // b, a % b, torch.div(a, b), torch.div(a, b, rounding_mode='trunc'), torch.fmod(a, b), a / b, a >> 1, a << 2, a ^ b, ~a)


@program("all", (torch.tensor([7, -7, 0, 5]), torch.tensor([2, 2, 3, -3])))
def n_tint_ops(a: T, b: T):
    return (a // b, a % b, a / b, a // 2.0, a % 2.5, a * 0.5, a + True, a - 1.5, -a, a.abs(), a.sign(), a ** 2, 2 ** a.abs(), a.float() ** (-1), torch.remainder(a, b), torch.true_divide(a, b), torch.floor_divide(a, 2))


@program("all", (torch.tensor([250, 5, 0], dtype=torch.uint8),))
def n_u8(a: T):
    return (a + 10, a - 10, -a, a * 2, a // 3, a % 7, ~a, a << 1, a >> 1, a.sum(), a.float().mean(), a + 1.5, a.to(torch.int8), a.prod(), a.cumsum(0))


@program("all", (torch.tensor([True, False, True]),))
def n_tbool(a: T):
    return (a + a, a * 2, a & True, a | a, a ^ a, ~a, a.sum(), a.float(), a.any(), a.all(), a.long() - 1, a.cumsum(0), a.to(torch.uint8), a.int() * -1)


@program("all", (torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, float('nan'), float('inf'), -0.0]),))
def n_tround(a: T):
    return (a.round(), a.floor(), a.ceil(), a.trunc(), a.frac(), a.sign(), a // 1, a % 1, torch.round(a * 1.25, decimals=1), torch.signbit(a), torch.copysign(torch.ones(8), a), a.isnan(), a.isinf(), torch.nan_to_num(a))


@program("all", (R(4),))
def n_promo(x: T):
    i = torch.arange(4)
    s = torch.tensor(2)
    f = torch.tensor(2.5, dtype=torch.float64)
    h = x.half()
    return ((i + 1.5).dtype, (i * s).dtype, x * f, i * f, h * f, h + x, i + h, (i / 2).dtype, s / 2, (x * 2.5).dtype, h * 1, i + True, torch.result_type(i, f), torch.promote_types(torch.int8, torch.uint8), f + i)


@program("all", (X,))
def n_zero_d(x: T):
    s = x.sum()
    return (s.unsqueeze(0), s.reshape(1, 1), s.expand(3), s + x, s.shape, s.dim(), s.numel(), s.max(), s.softmax(0), s.view(-1), s.flatten(), s.t(), s.sum(0), torch.stack([s, s]), s.argmax(), s.sort()[0], s.cumsum(0), s[None], s.clone().squeeze())


@program("all", (torch.zeros(0, 4),))
def z_empty(x: T):
    return (x.sum(), x.sum(0), x.sum(1), x.prod(), x.mean(), x.mean(0), x @ torch.ones(4, 2), torch.cat([x, torch.ones(1, 4)]), x.reshape(4, 0), x.t() @ x, x.softmax(1), x.relu(), x.any(), x.all(), x.argsort(1), x.sort(0)[0], x.cumsum(0), x.unique() if False else x, x.flatten(), x.norm(), x.std(1))


@program("closed", (torch.zeros(3, 0),))
def z_empty2(x: T):
    return (x.sum(1), x.prod(1), x.all(1), x.any(1), x.logsumexp(1), x.mean(1), x.softmax(0), x.cumsum(1), x.sort(1)[1], x.split(2), torch.stack([x, x]), x.unbind(0)[0], x @ x.t(), x.var(1), x.nonzero(), x.flip(1), x.repeat(2, 1))


@program("all", (X,))
def z_slices(x: T):
    return (x[5:], x[:, 9:].sum(1), x[-10:2], x[2:-10], x[:, :-1:2], x[1:0], x[-1:], x[:-1], x[0:10:3])


@program("all", ('abc',))
def s_index(s: str):
    r = ''
    for c in s:
        r = c + r
    return (r, s[0], s[-1], s[::-1], s[::2], s[5:], 'b' in s, 'z' in s, ord(s[0]), chr(65), s < 'abd', ','.join([s, 'x']), '{} {}'.format(s, 1), '%s-%s' % (s, s), s.partition('b'), s.rjust(5), s.zfill(6), s.splitlines(), s.rsplit('b'), s.lstrip('a'), s.isupper(), s.casefold() if False else s)


@program("all", ([1, 2, 3],), ([],), ([5],))
def l_ops(l: List[int]):
    a = l
    b = l.copy()
    a.append(9)
    c = l[:]
    c.insert(0, 7)
    d = l[::-1]
    e = l * 2
    f = l + [1]
    g = l[1:]
    l.extend([4, 4])
    h = l.count(4)
    b.reverse()
    return (a, b, c, d, e, f, g, h, len(l), l[-1], 4 in l, l == a, sorted(c), l[-100:2], l[5:1], l[::2], l[::-2])


@program("all", ([3, 1, 2],))
def l_mut(l: List[int]):
    l.sort()
    a = l.pop()
    b = l.pop(0)
    l.append(8)
    l[0] = 5
    del l[-1]
    l.insert(10, 6)
    l.insert(-1, 0)
    l.remove(5)
    m = [l, l]
    m[0].append(1)
    l += [2]
    return (l, a, b, m, len(m[1]), l.index(6))


@program("all", (X,))
def l_alias(x: T):
    a = [x, x + 1]
    b = a
    b[0] = x * 2
    c = list(a)
    c[1] = x * 3
    d = [a, c]
    d[0].append(x)
    e = a[:1]
    e[0] = e[0] + 1
    return (a, b, c, len(d[0]), e)


@program("all", ([1, 2],))
def l_default(l: List[int]):
    def_ = [0] * 3
    def_[1] = 2
    n = [[0] * 2 for _ in range(2)]
    n[0][1] = 5
    q = [[1]] * 2
    q[0].append(3)
    return (def_, n, q)


@program("all", ({'a': 1, 'b': 2},))
def d_ops(d: Dict[str, int]):
    e = d
    f = d.copy()
    e['c'] = 3
    k = list(d.keys())
    v = list(d.values())
    i = list(d.items())
    g = d.get('z')
    h = d.get('a', 5)
    d.pop('a')
    d.update({'b': 7, 'q': 1})
    p = d.setdefault('n', 4)
    p2 = d.setdefault('n', 9)
    c = 'b' in d
    del d['q']
    s = 0
    for kk, vv in d.items():
        s += vv
    return (d, e, f, k, v, i, g, h, p, p2, c, len(d), s)


@program("all", (X,))
def d_tensor(x: T):
    d: Dict[str, T] = {}
    d['a'] = x
    d['a'] += 1
    y = d['a']
    d['b'] = y
    d['b'].mul_(2)
    e: Dict[int, List[T]] = {}
    e[1] = [x]
    e[1].append(y)
    e[1][0] = e[1][1] * 3
    return (d, e[1], x)


@program("all", (X,))
def d_order(x: T):
    d: Dict[str, T] = {'z': x, 'a': x + 1}
    d['m'] = x
    d.pop('z')
    d['z'] = x * 2
    r = x * 0
    w = 1
    for k in d:
        r = r * 2 + d[k] * w
        w += 1
    return (r, list(d.keys()))


@program("all", (X,))
def t_tuple(x: T):
    t = (x, 1, 'a')
    a, b, c = t
    u = t[1:]
    (p, q), r = ((x, x + 1), x + 2)
    p2 = p
    p2 += 1
    return (t, a, u, p, q, r, (1, 2) == (1, 2), (1, 2) < (1, 3) if False else True, len([t]))


@program("all", (X,), (-X.abs(),))
def f_early(x: T):
    if bool(x.sum() > 0):
        return x + 1
    y = x * 2
    if bool(y.max() > -1000000000.0):
        return y - 1
    return y


@program("all", (X,), (X * 3,))
def f_dyn_while(x: T):
    n = 0
    while bool(x.abs().max() > 0.1):
        x = x / 2
        n += 1
        if n == 3:
            x = x - 0.01
            continue
        if bool(x.min() < -100):
            break
    return (x, n)


@program("all", (X,), (X * 3,))
def f_dyn_ret_in_loop(x: T):
    for i in range(5):
        x = x * 2
        if bool(x.abs().max() > 5):
            return x + i
    return x - 1


@program("all", (X, 3), (X, -1))
def f_raise(x: T, n: int):
    if n < -5:
        raise ValueError('neg')
    assert x.dim() == 2, 'dim'
    if n < 0:
        y = x
    else:
        y = x * n
    return y


@program("all", (X, None), (X, X + 1))
def f_opt(x: T, y: Optional[T]):
    if y is None:
        z = x
    else:
        z = x + y
    w = y if y is not None else x * 2
    if y is not None and bool(y.sum() != 0):
        z = z * 2
    return (z, w)


@program("all", (X, None), (X, 3))
def f_optint(x: T, n: Optional[int]):
    k = 2
    if n is not None:
        k = n
    return (x * k, n is None)


@program("all", (X,))
def f_script(x: T):
    if torch.jit.is_scripting():
        x = x + 1
    else:
        x = x - 1
    if torch.jit.is_tracing():
        x = x * 100
    return x


@program("all", (X,), (-X,))
def f_nested_if(x: T):
    s = x.sum()
    a = x
    if bool(s > 0):
        if bool(x[0, 0] > 0):
            a = a + 1
        else:
            a = a + 2
        b = a * 2
    else:
        b = a - 1
        if bool(x[1, 1] > 0):
            a = b
    return (a, b)


@program("all", (X,), (-X,))
def f_shortcircuit(x: T):
    c = 0
    if bool(x.sum() > 0) and bool(x[0, 0] > -10) or x.size(0) > 100:
        c = 1
    d = bool(x.sum() > 0) or x.size(0) == 3
    return (x + c, c, d, not bool(x.sum() > 0))


@program("all", (X,), (-X,))
def f_inplace_branch(x: T):
    a = x.clone()
    v = a[0]
    if bool(x.sum() > 0):
        v.add_(10)
    else:
        a.mul_(2)
    return (a, v)


@program("all", (X,), (-X,))
def f_list_branch(x: T):
    l = [x]
    if bool(x.sum() > 0):
        l.append(x + 1)
    else:
        l.append(x - 1)
    l[0] = l[1] * 2
    return l


@program("all", (X, 4), (X, 1))
def f_loop_alias(x: T, n: int):
    a = x.clone()
    b = a
    for i in range(n):
        a = a + b
        b = a if i % 2 == 0 else b
        b[0, 0] = i
    return (a, b)


@program("all", (X,))
def f_loop_var(x: T):
    s = 0
    for i in range(3):
        t = i * 2
        s += t
    for j, v in enumerate([x, x * 2]):
        x = x + v * j
    return (x, s)


@program("all", (torch.arange(5),), (torch.arange(3),))
def f_iter_tensor(x: T):
    s = torch.zeros(())
    n = 0
    for v in x:
        s = s + v * 2
        n += int(v)
    return (s, n)


@program("all", (7, 3), (-7, 3), (7, -3), (-7, -3), (0, 5), (2 ** 62, 3))
def n_int(a: int, b: int):
    c = 0
    if abs(a) < 2 ** 40:
        c = a << 1
    return (a // b, a % b, a - b * (a // b), c, a >> 1, a & b, a | b, a ^ b, -a, abs(a))


@program("all", (0.5,), (1.5,), (2.5,), (-0.5,), (-1.5,), (2.675,), (1e+16,))
def n_round(a: float):
    return (round(a), int(a), math.floor(a), math.ceil(a))


@program("refused", (0.3,), (2.0,))
def n_math(a: float):
    return (math.sqrt(a), math.exp(a), math.log(a), math.log(a, 2.0), math.log10(a), math.pow(a, 2.0), math.sin(a), math.tanh(a), math.atan2(a, 1.0), math.pi, math.inf, math.log1p(a), math.gamma(a), math.erf(a), math.fmod(a, 0.2), math.degrees(a), math.radians(a), math.expm1(a), math.erfc(a), math.lgamma(a), math.asinh(a), math.isnan(a), math.isinf(a), math.isfinite(a), math.modf(a), math.frexp(a), math.ldexp(a, 3))


@program("all", (R(4),))
def n_scalar_tensor(x: T):
    a = torch.tensor(3)
    b = torch.tensor(2.0)
    return (x + a, a + b, a / 2, a * 2.5, b ** a, a // 2, -a // 2, a > 2, x * a.item(), torch.scalar_tensor(5), torch.tensor(True) + 1, x.to(torch.float16) + a, torch.arange(3) + b, torch.arange(3) * torch.tensor(2.0, dtype=torch.float64))


@program("all", ('Hello, World',), ('',), ('aXbXc',))
def s_methods(s: str):
    return (s.upper(), s.lower(), s.strip(), s.split('X'), s.split(), s.find('o'), s.rfind('o'), s.replace('o', '00'), s.startswith('He'), s.endswith('c'), len(s), s[1:3], s[-2:], s + s, s.count('l'), s == '', s.isdigit(), s.title(), s.swapcase(), s.center(5, '*'))


@program("refused", (X,))
def s_fmt(x: T):
    a = x.size(0)
    return ('{}x{}'.format(a, x.size(1)), 'n=%d s=%s f=%f' % (a, 'q', 1.5), '{}'.format([1, 2]), '{}'.format((1, 'a')), str([1.5, 2]), str(True), str(None), '{}'.format(x.shape), str({'a': 1}), '%s' % [1], str(('a',)), '{}'.format({'k': [1, 2]}), '{}'.format(1.0), '%s' % 1e+20, '%i' % 7)


@program("closed", (X,))
def c_compr(x: T):
    l = [x[i] * i for i in range(x.size(0))]
    d = {str(i): x[i] for i in range(2)}
    s = [a + b for a, b in zip([1, 2], [3, 4])]
    e = [i * v for i, v in enumerate([5, 6])]
    return (l, d, s, e)


@program("all", (X, 5), (X, 1), (X, 0))
def f_break(x: T, n: int):
    i = 0
    while True:
        if i >= n:
            break
        i += 1
        if i % 2 == 0:
            continue
        x = x + i
    for j in range(10):
        if j == n:
            break
        x = x * 1.1
    return (x, i)


@program("state", *CALLS)
class m_counter(nn.Module):

    def __init__(s):
        super().__init__()
        s.n = 0
        s.f = 0.5
        s.b = False
        s.register_buffer('t', torch.zeros(3, 4))

    def forward(self, x: T):
        self.n += 1
        self.f *= 2.0
        self.b = not self.b
        self.t += x
        return (self.t * self.n, self.f, self.b)


@program("state", *CALLS)
class m_rebind(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('t', torch.zeros(3, 4))
        s.register_buffer('u', torch.ones(3, 4))

    def forward(self, x: T):
        self.t, self.u = (self.u * 1, self.t + x)
        return (self.t, self.u)


@program("state", *CALLS)
class m_alias_attr(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('t', torch.zeros(3, 4))
        s.register_buffer('u', torch.ones(3, 4))

    def forward(self, x: T):
        self.t = x.clone()
        v = self.t
        v.add_(1)
        self.u = self.u.clone()
        w = self.u[0]
        w.mul_(2)
        return (self.t, self.u, v)


@program("state", *CALLS)
class m_attr_is_input(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('t', torch.zeros(3, 4))

    def forward(self, x: T):
        y = self.t + 0
        self.t = x
        return y


@program("state", *CALLS)
class m_view_buffer(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('t', torch.zeros(12))

    def forward(self, x: T):
        v = self.t.view(3, 4)
        v[0] += x[0]
        v.t()[1] *= 2
        v[2, 2] = 5
        return (self.t * 1, v.sum())


@program("state", *CALLS)
class m_share(nn.Module):

    def __init__(s):
        super().__init__()
        s.a = nn.Linear(4, 4)
        s.b = nn.Linear(4, 4)
        s.b.weight = s.a.weight
        s.register_buffer('c', torch.ones(4))
        s.d = nn.BatchNorm1d(4)

    def forward(self, x: T):
        self.c.add_(1)
        return self.d(self.b(self.a(x))) * self.c


@program("refused", *CALLS)
class m_bn_train(nn.Module):
    keep_train = True

    def __init__(s):
        super().__init__()
        s.d = nn.BatchNorm1d(4, momentum=0.3)
        s.e = nn.BatchNorm1d(4, momentum=None)

    def forward(self, x: T):
        return self.e(self.d(x))


@program("state", *CALLS)
class m_list_ints(nn.Module):
    l: List[int]

    def __init__(s):
        super().__init__()
        s.l = [1, 2, 3]

    def forward(self, x: T):
        self.l[0] += 1
        a = self.l
        a[1] = a[0] * 2
        return (x * self.l[1], self.l[0])


@program("state", *CALLS)
class m_dict_tensor(nn.Module):
    d: Dict[str, T]

    def __init__(s):
        super().__init__()
        s.d = {'a': torch.zeros(3, 4), 'b': torch.ones(3, 4)}

    def forward(self, x: T):
        self.d['a'] = self.d['a'] + x
        self.d['b'].add_(1)
        e = self.d
        e['b'] = e['b'] * 2
        return (self.d['a'] * 1, e['b'])


@program("state", *CALLS)
class m_dict_swap(nn.Module):
    d: Dict[str, T]

    def __init__(s):
        super().__init__()
        s.d = {'a': torch.zeros(3, 4), 'b': torch.ones(3, 4)}

    def forward(self, x: T):
        a = self.d['a']
        self.d['a'] = self.d['b']
        self.d['b'] = a + x
        return (self.d['a'] * 1, self.d['b'] * 1)


@program("refused", *CALLS)
class m_nested(nn.Module):
    l: List[List[int]]
    q: Dict[str, List[T]]

    def __init__(s):
        super().__init__()
        s.l = [[1], [2, 3]]
        s.q = {'a': [torch.zeros(4)]}

    def forward(self, x: T):
        self.l[1][0] += 1
        self.q['a'][0] = self.q['a'][0] + x[0]
        return (x * self.l[1][0], self.q['a'][0])


@program("refused", *CALLS)
class m_tuple_attr(nn.Module):
    t: Tuple[int, T]

    def __init__(s):
        super().__init__()
        s.t = (1, torch.zeros(4))

    def forward(self, x: T):
        a, b = self.t
        self.t = (a + 1, b + x[0])
        return b * a


@program("state", *CALLS)
class m_tuple_inner(nn.Module):
    t: Tuple[int, T]

    def __init__(s):
        super().__init__()
        s.t = (1, torch.zeros(4))

    def forward(self, x: T):
        self.t[1].add_(x[0])
        return self.t[1] * 1


@program("state", *CALLS, (X,))
class m_opt_tensor(nn.Module):
    h: Optional[T]

    def __init__(s):
        super().__init__()
        s.h = None

    def forward(self, x: T):
        h = self.h
        if h is None:
            r = x
        else:
            r = x + h
        self.h = r * 0.5
        return r


@program("refused", *CALLS, (X,))
class m_two_opts(nn.Module):
    h: Optional[T]
    g: Optional[T]

    def __init__(s):
        super().__init__()
        s.h = None
        s.g = None

    def forward(self, x: T):
        h = self.h
        g = self.g
        if h is None:
            h = torch.zeros_like(x)
        if g is None:
            g = torch.ones_like(x)
        self.h = h + x
        self.g = g * x
        return h + g


@program("refused", *CALLS, (X,))
class m_opt_int(nn.Module):
    h: Optional[int]

    def __init__(s):
        super().__init__()
        s.h = None

    def forward(self, x: T):
        h = self.h
        if h is None:
            r = 0
        else:
            r = h
        self.h = r + 1
        return x * r


@program("refused", *CALLS, (X,))
class m_grow_list(nn.Module):
    l: List[T]

    def __init__(s):
        super().__init__()
        s.l = []

    def forward(self, x: T):
        self.l.append(x)
        if len(self.l) > 2:
            self.l.pop(0)
        r = x * 0
        for v in self.l:
            r = r + v
        return r


@program("refused", *CALLS, (X,))
class m_str(nn.Module):
    mode: str

    def __init__(s):
        super().__init__()
        s.mode = 'a'

    def forward(self, x: T):
        r = x
        if self.mode == 'a':
            self.mode = 'b'
            r = x + 1
        else:
            self.mode = 'a'
            r = x - 1
        return r


@program("state", *CALLS, (X,))
class m_sub_state(nn.Module):

    class Sub(nn.Module):

        def __init__(s):
            super().__init__()
            s.n = 0

        def forward(self, x: T):
            self.n += 1
            return x * self.n

    def __init__(s):
        super().__init__()
        s.a = m_sub_state.Sub()
        s.b = m_sub_state.Sub()
        s.c = s.a

    def forward(self, x: T):
        return (self.c(self.b(self.a(x))), self.a.n, self.b.n)


@program("state", *CALLS, (X,))
class m_kv(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(8, 4))
        s.p = 0

    def forward(self, x: T):
        n = x.size(0)
        self.k[0:n] = x + self.k[0:n]
        self.p = self.p + n
        return (self.k.sum(0), self.p)


@program("state", *CALLS, (X,))
class m_kv_pos(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(16, 4))
        s.p = 0

    def forward(self, x: T):
        n = x.size(0)
        self.k[self.p:self.p + n] = x
        self.p += n
        return (self.k[:self.p].sum(0), self.p)


@program("state", *CALLS, (X,))
class m_cond_state(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(4))
        s.n = 0

    def forward(self, x: T):
        if bool(x.sum() > 0):
            self.k += x[0]
            self.n += 1
        else:
            self.k -= 1
        return (self.k * 1, self.n)


@program("state", *CALLS, (X,))
class m_loop_state(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(4))
        s.n = 0

    def forward(self, x: T):
        while bool(x.abs().max() > 0.5):
            x = x / 2
            self.n += 1
            self.k.add_(x[0])
        return (self.k * 1, self.n, x)


@program("state", *CALLS, (X,))
class m_ret_buffer(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(3, 4))

    def forward(self, x: T):
        r = self.k
        self.k += x
        return r


@program("state", *CALLS, (X,))
class m_const_buf(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.tensor([1, 2]))

    def forward(self, x: T):
        self.k[0] += 1
        return (x[:, :int(self.k[1])], self.k.float())


@program("state", *CALLS, (X,))
class m_dtype_change(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(3, 4))

    def forward(self, x: T):
        self.k = (self.k + x).double().float()
        return self.k * 1


@program("state", *CALLS, (X,))
class m_shape_change(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(0, 4))

    def forward(self, x: T):
        self.k = torch.cat([self.k, x])
        return (self.k.sum(0), self.k.size(0))


@program("refused", *CALLS, (X,))
class m_view_attr(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(3, 4))
        s.register_buffer('v', torch.zeros(4))

    def forward(self, x: T):
        self.v = self.k[0]
        self.k += x
        return self.v * 1


@program("refused", *CALLS, (X,))
class m_attr_alias2(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(3, 4))
        s.register_buffer('v', torch.zeros(3, 4))

    def forward(self, x: T):
        self.v = self.k
        self.k += x
        return self.v * 1


@program("state", *CALLS, (X,))
class m_list_alias(nn.Module):
    l: List[T]

    def __init__(s):
        super().__init__()
        s.l = [torch.zeros(4), torch.ones(4)]

    def forward(self, x: T):
        self.l[0] = self.l[1]
        self.l[1] = self.l[1] + x[0]
        return (self.l[0] * 1, self.l[1] * 1)


@program("refused", *CALLS, (X,))
class m_list_alias_w(nn.Module):
    l: List[T]

    def __init__(s):
        super().__init__()
        s.l = [torch.zeros(4), torch.ones(4)]

    def forward(self, x: T):
        self.l[0] = self.l[1]
        self.l[1] += x[0]
        return (self.l[0] * 1, self.l[1] * 1)


@program("state", (X,), (X + 1,))
class m_script_cls(nn.Module):

    def __init__(s):
        super().__init__()
        s.w = nn.Parameter(torch.ones(4))
        s.register_buffer('z', None)

    def forward(self, x: T):
        z = self.z
        if z is not None:
            x = x + z
        return x * self.w


@program("refused", *SIGNS)
def a_nested(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        if bool(x[0, 0] > 0):
            v = a[0]
        else:
            v = a[1]
    else:
        v = x[0] * 1
    a.add_(1)
    return (v, a)


@program("refused", *SIGNS)
def a_nested_w(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        if bool(x[0, 0] > 0):
            v = a[0]
        else:
            v = a[1]
    else:
        v = x[0] * 1
    v.add_(1)
    return (v, a)


@program("refused", *SIGNS)
def a_loop_view(x: T):
    a = x.clone()
    v = x[0] * 0
    n = 0
    while bool(a.sum() + n < 3):
        v = a[0]
        n += 1
    a.add_(1)
    return (v, a)


@program("refused", *SIGNS)
def a_loop_view_w(x: T):
    a = x.clone()
    v = x[0] * 0
    n = 0
    while bool(a.sum() + n < 3):
        v = a[0]
        n += 1
    v.add_(1)
    return (v, a)


@program("refused", *SIGNS)
def a_loop_swap(x: T):
    a = x.clone()
    b = x * 2
    n = 0
    while bool(x.sum() + n < 3):
        a, b = (b, a)
        n += 1
    a.add_(1)
    return (a, b)


@program("all", *SIGNS)
def a_loop_inner_w(x: T):
    a = x.clone()
    b = a
    n = 0
    while bool(x.sum() + n < 3):
        b = b + 1
        b.mul_(2)
        n += 1
    return (a, b)


@program("refused", *SIGNS)
def a_loop_first_alias(x: T):
    a = x.clone()
    b = a
    n = 0
    while bool(x.sum() + n < 3):
        b.mul_(2)
        b = b + 1
        n += 1
    return (a, b)


@program("all", *SIGNS)
def a_if_whole(x: T):
    a = x.clone()
    b = x * 2
    c = a if bool(x.sum() > 0) else b
    c.add_(1)
    return (a, b, c)


@program("all", *SIGNS)
def a_if_whole2(x: T):
    a = x.clone()
    b = x * 2
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    a.add_(1)
    b.mul_(3)
    return (a, b, c)


@program("all", *SIGNS)
def a_if_list(x: T):
    a = x.clone()
    l = [a, a * 2]
    if bool(x.sum() > 0):
        l[0] = l[1]
    l[1].add_(1)
    return (l, a)


@program("all", *SIGNS)
def a_if_tuple(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        t = (a[0], a[1])
    else:
        t = (a[1], a[0])
    a.mul_(2)
    return t


@program("all", *SIGNS)
def a_if_dict(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        t = {'k': a[0]}
    else:
        t = {'k': a[1]}
    a.mul_(2)
    return t['k']


@program("all", *SIGNS)
def a_if_view_of_choice(x: T):
    a = x.clone()
    b = x * 2
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    v = c[0]
    a.add_(1)
    return v


@program("all", *SIGNS)
def a_if_same_base(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        c = a[0]
    else:
        c = a[1]
    c.add_(5)
    return (a, c)


@program("all", *SIGNS)
def a_one_side_fresh(x: T):
    a = x.clone()
    c = a
    if bool(x.sum() > 0):
        c = c * 2
    c.add_(5)
    return (a, c)


@program("all", *SIGNS)
def a_one_side_fresh2(x: T):
    a = x.clone()
    c = a
    if bool(x.sum() > 0):
        c = c * 2
    a.add_(5)
    return (a, c)


@program("all", *SIGNS)
def a_choice_in_branch(x: T):
    a = x.clone()
    b = x * 2
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    if bool(x[0, 0] > 0):
        c.add_(1)
    else:
        a.mul_(3)
    return (a, b, c)


@program("all", *SIGNS)
def a_choice_in_loop(x: T):
    a = x.clone()
    b = x * 2
    n = 0
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    while bool(c.abs().sum() < 100):
        c.mul_(2)
        c.add_(1)
        n += 1
    return (a, b, c, n)


@program("all", *SIGNS)
def a_ternary_view(x: T):
    a = x.clone()
    v = a[:, 0] if bool(x.sum() > 0) else a[:, 1]
    v.fill_(7.0)
    w = v * 2
    return (a, v, w)


@program("all", *SIGNS)
def a_loop_list(x: T):
    a = x.clone()
    l: List[T] = []
    n = 0
    while bool(x.sum() + n < 2):
        l.append(a[0])
        n += 1
    a.add_(1)
    return (n, a)


@program("all", *SIGNS)
def a_loop_carried_view_read(x: T):
    a = x.clone()
    v = a[0]
    n = 0
    while bool(x.sum() + n < 3):
        a.add_(1)
        n += 1
    return (v, a, n)


@program("all", *SIGNS)
def a_loop_carried_view_w(x: T):
    a = x.clone()
    v = a[0]
    n = 0
    while bool(x.sum() + n < 3):
        v.add_(1)
        n += 1
    return (v, a, n)


@program("all", *SIGNS)
def a_loop_view_each(x: T):
    a = x.clone()
    n = 0
    while bool(x.sum() + n < 3):
        v = a[n % 3 if False else 0]
        v.add_(1)
        n += 1
    return (a, n)


@program("all", *SIGNS)
def a_obj(x: T):
    c = x.clone()
    l = [c]
    m = l
    if bool(x.sum() > 0):
        m = [c * 2]
    m[0].add_(1)
    return (l[0], m[0])


@program("all", *SIGNS)
def a_obj2(x: T):
    c = x.clone()
    l = [c]
    m = l
    if bool(x.sum() > 0):
        m = [c * 2]
    m.append(c)
    return (len(l), len(m))


@program("all", *SIGNS)
def a_obj3(x: T):
    c = x.clone()
    l = [c]
    k = [c * 3]
    if bool(x.sum() > 0):
        m = l
    else:
        m = k
    m[0] = x
    return (l[0], m[0], k[0])


@program("all", *SIGNS)
def a_none(x: T):
    v: Optional[T] = None
    a = x.clone()
    if bool(x.sum() > 0):
        v = a[0]
    if v is not None:
        a = a + v
    return a


@program("closed", *SIGNS)
def a_expand_choice(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        e = a[:1].expand(3, 4)
    else:
        e = a
    a.add_(1)
    return e * 1


@program("all", *SIGNS)
def a_input_choice(x: T):
    y = x * 2
    c = x if bool(x.sum() > 0) else y
    c.add_(1)
    return c


@program("all", (P, True), (N, False))
def a_static_choice(x: T, f: bool):
    y = x * 2
    c = x if f else y
    c.add_(1)
    return (c, y)


@program("all", *SIGNS)
def e_early_view(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        return a[0]
    a = a + 1
    return a[1]


@program("all", *SIGNS)
def e_early_view_w(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        v = a[0]
        v.add_(1)
        return a
    a.mul_(2)
    return a


@program("refused", *SIGNS)
def e_view_run_index(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        v = a[int(x.argmax()) // 100]
    else:
        v = a[1]
    v.add_(1)
    return a


@program("refused", *SIGNS)
def e_view_run_slice(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        k = int(x[0, 0] > 0)
        v = a[k:k + 1]
    else:
        v = a[1:2]
    v.add_(1)
    return a


@program("closed", *SIGNS)
def e_choice_slices(x: T):
    a = x.clone()
    if bool(x.sum() > 0):
        v = a[:, ::2]
    else:
        v = a[:, 1::2]
    v *= 3
    a[0] += 1
    return (a, v)


@program("refused", *SIGNS)
def e_choice_t(x: T):
    a = x.clone()[:, :3]
    b = a.t()
    c = a if bool(x.sum() > 0) else b
    c[0, 1] = 9.0
    return (a, b, c)


@program("all", *SIGNS)
def e_choice_chain(x: T):
    a = x.clone()
    c = a
    for i in range(6):
        c = c if bool(x[0, 0] > i * 0.1) else c * 2
        c.add_(1)
    return (a, c)


@program("all", *SIGNS)
def e_choice_chain2(x: T):
    a = x.clone()
    b = x * 2
    c = a
    for i in range(4):
        if bool(x[0, 0] > i * 0.3):
            c = b
        b = b + 1
        c.add_(1)
    return (a, b, c)


@program("all", *SIGNS)
def e_choice_attr(x: T):
    l = [x.clone(), x * 2]
    c = l[0]
    if bool(x.sum() > 0):
        c = l[1]
    c.mul_(5)
    if bool(x[0, 0] > 0):
        l[0].sub_(1)
    return (l, c)


@program("all", *SIGNS)
def e_nested_choice_read(x: T):
    a = x.clone()
    b = x + 1
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    if bool(x[0, 0] > 0):
        d = c
    else:
        d = a
    a.add_(1)
    r = d * 1
    c.mul_(2)
    return (a, b, c, d, r)


@program("all", *SIGNS)
def e_nested_choice_w(x: T):
    a = x.clone()
    b = x + 1
    if bool(x.sum() > 0):
        c = a
    else:
        c = b
    if bool(x[0, 0] > 0):
        d = c
    else:
        d = a
    d.add_(1)
    a.mul_(2)
    return (a, b, c, d)


@program("all", *SIGNS)
def e_choice_view_shape(x: T):
    a = x.clone()
    c = a if bool(x.sum() > 0) else a * 2
    v = c.view(-1)
    v[3] = 100
    w = c[1:]
    w.zero_()
    return (a, c, v)


@program("all", *SIGNS)
def e_choice_contig(x: T):
    a = x.clone()
    c = a if bool(x.sum() > 0) else a * 2
    d = c.contiguous()
    d.add_(1)
    return (a, c, d)


@program("all", *SIGNS)
def e_choice_loop_read(x: T):
    a = x.clone()
    b = x + 1
    c = a if bool(x.sum() > 0) else b
    n = 0
    s = x * 0
    while n < 3 and bool(x.sum() < 100):
        a.add_(1)
        s = s + c
        n += 1
    return (a, c, s)


@program("all", *SIGNS)
def e_choice_in_both(x: T):
    a = x.clone()
    b = x + 1
    c = a if bool(x.sum() > 0) else b
    if bool(x[0, 0] > 0):
        c.add_(1)
        a.mul_(2)
    else:
        a.mul_(3)
        c.add_(4)
    return (a, b, c)


@program("all", *SIGNS)
def e_choice_stale_merge(x: T):
    a = x.clone()
    b = x + 1
    c = a if bool(x.sum() > 0) else b
    if bool(x[0, 0] > 0):
        a.mul_(2)
    if bool(x[1, 1] > 0):
        d = c + 1
    else:
        d = c - 1
    return (a, b, c, d)


@program("all", *SIGNS)
def e_optional(x: T):
    a = x.clone()
    v: Optional[T] = None
    if bool(x.sum() > 0):
        w = a[0]
    else:
        w = a[1]
    for i in range(2):
        w.add_(i + 1)
    return (a, w)


@program("all", *SIGNS)
def e_raise_view(x: T):
    a = x.clone()
    if bool(x.sum() > 1000000000.0):
        raise RuntimeError('no')
    else:
        v = a[0]
    v.add_(1)
    return (a, v)


@program("state", *SIGNS)
class e_state_choice(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('a', torch.zeros(4))
        s.register_buffer('b', torch.ones(4))

    def forward(self, x: T):
        c = self.a if bool(x.sum() > 0) else self.b
        c.add_(x[0])
        return (c * 1, self.a * 1, self.b * 1)


@program("all", *BOTH)
def r_atleast(x: T):
    a = x.clone()
    b = torch.atleast_2d(a)
    b.add_(1)
    c = torch.atleast_1d(a)
    c.mul_(2)
    d = torch.atleast_3d(a)
    d[0] = 5.0
    return a


@program("all", *BOTH)
def r_broadcast_tensors(x: T):
    a = x.clone()
    b, c = torch.broadcast_tensors(a, torch.ones(1))
    a.add_(1)
    return (b, c)


@program("refused", *BOTH)
def r_meshgrid(x: T):
    a = x[0].clone()
    b = x[1].clone()
    g, h = torch.meshgrid([a, b], indexing='ij')
    a.add_(1)
    return (g * 1, h * 1)


@program("all", *BOTH)
def r_real(x: T):
    a = x.clone()
    b = torch.real(a)
    b.add_(1)
    c = torch.conj(a)
    c.add_(1)
    return a


@program("all", *BOTH)
def r_sumto(x: T):
    a = x.clone()
    b = a.sum_to_size(a.size(0), a.size(1))
    b.add_(1)
    return (a, b)


@program("all", *BOTH)
def r_squeeze(x: T):
    a = x.clone()
    b = a.squeeze()
    b.add_(1)
    c = a.squeeze(0)
    c.add_(1)
    d = a.unsqueeze(1).squeeze(1)
    d.mul_(2)
    return a


@program("all", *BOTH)
def r_flip(x: T):
    a = x.clone()
    b = a.flip(0)
    b.add_(1)
    c = a.roll(1, 0)
    c.add_(1)
    d = torch.rot90(a, 2)
    d.add_(1)
    e = a.repeat(1, 1)
    e.add_(1)
    f = a.tile(1, 1)
    f.zero_()
    return a


@program("all", *BOTH)
def r_pad(x: T):
    a = x.clone()
    b = torch.nn.functional.pad(a, [0, 0])
    b.add_(1)
    c = torch.cat([a])
    c.add_(1)
    d = torch.stack([a])[0]
    d.add_(1)
    e = a.index_select(0, torch.arange(a.size(0)))
    e.add_(1)
    return a


@program("closed", *BOTH)
def r_ravel(x: T):
    a = x.clone()
    b = a.ravel()
    b.add_(1)
    c = a.t().ravel()
    c.add_(100)
    return a


@program("all", *BOTH)
def r_typeconv(x: T):
    a = x.clone()
    b = a.float()
    b.add_(1)
    c = a.type_as(x)
    c.add_(1)
    d = a.to(x)
    d.add_(1)
    e = a.cpu()
    e.add_(1)
    f = a.to('cpu')
    f.add_(1)
    g = a.to(torch.float32, copy=True)
    g.zero_()
    h = a.double()
    h.zero_()
    return a


@program("all", *BOTH)
def r_identity(x: T):
    a = x.clone()
    b = a.positive()
    b.add_(1)
    c = a + 0
    c.add_(1)
    d = a * 1
    d.add_(1)
    e = a.round()
    e.add_(1)
    f = a.clamp(-100, 100)
    f.add_(1)
    g = torch.nan_to_num(a)
    g.add_(1)
    return a


@program("all", *BOTH)
def r_relu_(x: T):
    a = x.clone()
    torch.nn.functional.relu(a, inplace=True)
    torch.nn.functional.leaky_relu(a, 0.1, inplace=True)
    torch.relu_(a)
    b = torch.nn.functional.hardtanh(a, -0.5, 0.5, True)
    b.add_(1)
    return a


@program("all", *BOTH)
def r_intround(x: T):
    a = (x * 10).long()
    b = a.floor()
    b.add_(1)
    c = a.ceil()
    c.add_(1)
    d = a.round()
    d.add_(1)
    e = a.trunc()
    e.add_(1)
    f = a.abs()
    f.add_(1)
    return a


@program("all", *BOTH)
def r_unflatten(x: T):
    a = x.clone()
    b = a.view(-1).unflatten(0, [a.size(0), a.size(1)])
    b[0] = 3.0
    c = a.view(a.size(0), 1, a.size(1))
    c[:, 0, 0] = 9
    return a


@program("all", *BOTH)
def r_hsplit(x: T):
    a = x.clone()
    p = torch.tensor_split(a, 2, 1)
    p[0].zero_()
    q = torch.vsplit(a, [1])
    q[1].add_(5)
    return a


@program("all", (torch.randn(2, 3, 2),))
def r_complex(x: T):
    a = x.clone()
    c = torch.view_as_complex(a)
    r = torch.view_as_real(c)
    d = c * 2
    e = torch.view_as_real(d)
    return (r, e)


@program("all", (torch.randn(2, 3, 2),))
def r_complex_w(x: T):
    a = x.clone()
    c = torch.view_as_complex(a)
    r = torch.view_as_real(c)
    r.add_(1)
    return a


@program("all", (torch.randn(2, 3, 2),))
def r_complex_im(x: T):
    a = torch.view_as_complex(x.clone())
    b = a.imag
    b.zero_()
    return torch.view_as_real(a)


@program("closed", *BOTH)
def r_expand_write(x: T):
    a = x[:, :1].clone()
    b = a.expand(-1, 3)
    c = b + 1
    a.add_(1)
    return (b * 1, c)


@program("all", *BOTH)
def r_out(x: T):
    o = torch.zeros_like(x)
    torch.add(x, x, out=o)
    p = torch.empty_like(x)
    torch.exp(x, out=p)
    return (o, p)


@program("all", *BOTH)
def r_out_parts(x: T):
    """A row of another tensor, another dtype, an operand, what takes the result's shape."""
    o = torch.zeros(2, x.size(1))
    torch.sub(x[0], x[1], alpha=2, out=o[1])
    d = torch.empty(x.size(0), dtype=torch.float64)
    torch.sum(x, 1, out=d)
    y = x.clone()
    torch.clamp(y, -0.5, 0.5, out=y)
    grown = torch.empty(0)
    alias = torch.cat([x, x], 0, out=grown)
    alias.add_(1)
    return (o, d, y, grown)


@program("all", *BOTH)
def v_pad_to_extents(x: T):
    """By amounts that are open, of either sign."""
    n, m = x.size(0), x.size(1)
    if n > 2:
        y = x[:2]
    else:
        y = F.pad(x, (0, 0, 0, 3 - n))
    p = (4 - m % 4) % 4
    return (F.pad(x, (0, 7 - m)), F.pad(x, (0, 0, 9 - n, m - 6), value=2.0), F.pad(x, (6 - m, 0), mode="replicate"), F.pad(x, (0, p)).view(n, -1, 4), y)


@program("all", *BOTH)
def v_expand_of_a_part(x: T):
    y = x.clone()
    e = y[:1].expand(3, -1)
    f = y[-1:, :1].expand(2, 4)
    y.add_(1)
    return (e, f, y)


@program("all", (X, torch.tensor(-1)), (X, torch.tensor(2)), (X, torch.tensor(0)),
         (Y, torch.tensor(-9)), (Y, torch.tensor(9)))
def v_slice_by_data(x: T, n: T):
    """Ends that the run computes count from the end where they are negative."""
    k = int(n.item())
    y = x.clone()
    y[:k] = 1
    y[-k:].mul_(3)
    return (x[:k], x[k:], x[:, -k:k + 1], y)


@program("all", *BOTH)
def r_max_out(x: T):
    v, i = x.max(1)
    v.add_(1)
    m = x.max()
    m.add_(1)
    return (v, i, x.max(), m)


@program("all", *BOTH)
def r_topk(x: T):
    v, i = x.topk(2, 1)
    w = x.gather(1, i)
    w.zero_()
    s = x.scatter(1, i, 0.0)
    return (v, i, s, x)


@program("all", *BOTH)
def r_where_inplace(x: T):
    a = x.clone()
    a = torch.where(a > 0, a, torch.zeros(()))
    b = a
    a *= 2
    return (a, b)


@program("all", *BOTH)
def r_setitem_int(x: T):
    a = x.clone()
    a[torch.tensor(1)] = 7.0
    a[torch.tensor([0]), 1] = 3.0
    a[0, torch.tensor([0, 2])] = torch.tensor([8.0, 9.0])
    a[[1], [0]] = 4.0
    return a


@program("all", *BOTH)
def r_setitem_mask(x: T):
    a = x.clone()
    a[a[:, 0] > 0] = 1.0
    a[:, torch.tensor([True, False] + [False] * 2)[:2].sum()] = 5.0
    return a


@program("all", *BOTH)
def r_setitem_bcast(x: T):
    a = x.clone()
    a[:, 1:3] = torch.tensor([1.0, 2.0])
    a[1] = torch.tensor(5.0)
    a[:, 0] = torch.arange(a.size(0))
    a[0:1] = a[1:2]
    return a


@program("all", *BOTH)
def r_nested_idx(x: T):
    a = x.clone()
    a[0][1] = 5.0
    a[1:][0][2:] = 6.0
    a[:, 0][1] += 10
    return a


@program("all", *BOTH)
def r_aug_idx(x: T):
    a = x.clone()
    a[0, 1] += 1
    a[1] *= 2
    a[:, -1] -= a[:, 0]
    a[a > 1] /= 2
    i = torch.tensor([0, 0])
    a[i] += 1
    return a


@program("all", *BOTH)
def r_cat_alias(x: T):
    a = x.clone()
    l = [a, a]
    c = torch.cat(l)
    a.zero_()
    return (c, l[0])


@program("all", *BOTH)
def r_loop_inplace(x: T):
    a = x.clone()
    for i in range(a.size(0)):
        r = a[i]
        for j in range(2):
            r[j] = r[j] + i * j
    return a


@program("all", *BOTH)
def r_loop_rows(x: T):
    a = x.clone()
    o = torch.zeros(x.size(0))
    for i in range(x.size(0)):
        o[i] = a[i].sum()
        a[i] /= 2
    return (a, o)


@program("all", *BOTH)
def r_swap_views(x: T):
    a = x.clone()
    b = a[0]
    c = a[1]
    t = b.clone()
    b.copy_(c)
    c.copy_(t)
    return a


@program("all", *BOTH)
def r_tuple_swap(x: T):
    a = x.clone()
    a[0], a[1] = (a[1].clone(), a[0].clone())
    return a


@program("all", *BOTH)
def r_zero_dim_write(x: T):
    s = torch.zeros(())
    s += x.sum()
    s.mul_(2)
    t = s.view(1)
    t.add_(1)
    u = x[0, 0].clone()
    u.fill_(3.0)
    v = x.clone()
    v[0, 0].add_(10)
    return (s, t, u, v)


@program("all", *BOTH)
def r_item_after_write(x: T):
    a = x.clone()
    a[0, 0] = 3.0
    n = int(a[0, 0])
    a.add_(n)
    k = float(a.sum())
    return (a * k, n)


@program("all", (torch.tensor([3, 1, 2]),))
def r_const_shape(x: T):
    n = int(x[0])
    return (torch.zeros(n, 2) + torch.arange(2), x.new_zeros(2), x.new_full((2,), 7), torch.full([2], 3), torch.full([2], True), torch.ones(2, dtype=torch.int), torch.arange(0, 1, 0.25), torch.arange(5, 0, -2), torch.linspace(0, 1, 3), torch.eye(2), torch.empty(0))


@program("all", *BOTH)
def r_norms(x: T):
    return (x.norm(), x.norm(p=1), torch.linalg.norm(x), torch.norm(x, dim=1), torch.norm(x, p=float('inf')), x.abs().pow(3).sum().pow(1 / 3), torch.cdist(x, x), torch.nn.functional.normalize(x, dim=0))


@program("all", *BOTH)
def r_default_mut(x: T):
    def_l = [1]
    for i in range(2):
        def_l.append(i)
    return (x * def_l[-1], def_l)


@program("all", (X,), (N,))
def r_while_else(x: T):
    i = 0
    while i < 3:
        i += 1
        if i == 2:
            continue
        x = x * i
    return x


@program("closed", (X,), (N,))
def r_ret_none(x: T):
    y: Optional[T] = None
    if x.size(0) == 3:
        y = x
    if y is None:
        return x * 0
    return y + 1


@program("all", (X,), (N,))
def r_multi_ret(x: T):
    for i in range(3):
        for j in range(3):
            if bool(x[i, j] > 0.5):
                return x * (i * 3 + j)
    return x


@program("all", (X,), (N,))
def r_isinst(x: T):
    a: Any = x
    if isinstance(a, T):
        r = a + 1
    else:
        r = x
    u: Union[int, str] = 3
    if isinstance(u, int):
        r = r * u
    return r


@program("growing", *LONGER)
class k_cat(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(0, 4))

    def forward(self, x: T):
        self.k = torch.cat([self.k, x])
        return (self.k.sum(0), self.k.size(0), self.k * 1)


@program("growing", *LONGER)
class k_cat2(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(0, 4))
        s.register_buffer('v', torch.ones(1, 4))

    def forward(self, x: T):
        self.k = torch.cat([self.k, x])
        self.v = torch.cat([self.v, x * 2])
        a = torch.softmax(x @ self.k.t(), -1)
        return (a, self.v.mean(0))


@program("growing", *LONGER)
class k_window(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.zeros(0, 4))

    def forward(self, x: T):
        self.k = torch.cat([self.k, x])[-3:]
        return self.k.sum(0)


@program("growing", *LONGER)
class k_replace(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))

    def forward(self, x: T):
        r = self.k.sum(0)
        self.k = x * 1
        return r


@program("growing", *LONGER)
class k_replace_input(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))

    def forward(self, x: T):
        r = self.k.sum(0)
        self.k = x
        return r


@program("growing", *LONGER)
class k_cat_inplace(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))

    def forward(self, x: T):
        self.k = torch.cat([self.k, x])
        self.k.add_(1)
        self.k[0] = 0
        return self.k.sum()


@program("refused", *LONGER)
class k_dtype(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))

    def forward(self, x: T):
        r = self.k.float().sum()
        self.k = self.k.double() + 1
        return r


@program("growing", *LONGER)
class k_cond(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))

    def forward(self, x: T):
        if bool(x.sum() > 0):
            self.k = torch.cat([self.k, x])
        return self.k.sum(0)


@program("growing", *LONGER)
class k_reset(nn.Module):

    def __init__(s):
        super().__init__()
        s.register_buffer('k', torch.ones(2, 4))
        s.n = 0

    def forward(self, x: T):
        self.n += 1
        self.k = torch.cat([self.k, x])
        if self.n % 2 == 0:
            self.k = self.k[:1]
        return (self.k.sum(0), self.n)


@program("all", (7, 3), (-12, 18), (0, 4), (0, 0), (-2 ** 63, 6))
def o_gcd(a: int, b: int):
    return (math.gcd(a, b), math.factorial(5))


@program("all", (0.3,), (2.0,), (10.0,))
def o_log(a: float):
    return (math.log(a, 2.0), math.log(a, 10), math.log(8, 2))


@program("all", (X,), (R(5, 2),), (R(4, 4),))
def o_fill_diag(x: T):
    a = x.clone()
    a.fill_diagonal_(3.0)
    b = x.clone()
    b.fill_diagonal_(2.0, wrap=True)
    c = x.clone()
    c.t().fill_diagonal_(7)
    return (a, b, c)


@program("all", (R(3, 3, 3),))
def o_fill_diag3(x: T):
    a = x.clone()
    a.fill_diagonal_(3.0)
    return a


@program("all", (torch.arange(12).reshape(6, 2),))
def o_fill_diag_wrap(x: T):
    a = x.clone()
    a.fill_diagonal_(-1, wrap=True)
    b = x.clone()
    b.fill_diagonal_(-1)
    return (a, b)


@program("all", (X,), (R(5, 2),), (R(4, 4),))
def o_diag(x: T):
    return (x.diagonal(), x.diagonal(1), x.diagonal(-1), x.trace(), torch.diag(x), torch.diag(x, 1), torch.diag_embed(x), torch.tril(x), torch.triu(x, 1), x.diagonal().sum(), x.diagonal(10))


@program("all", (R(2, 3, 4),), (R(3, 2, 2),))
def o_diag3(x: T):
    return (x.diagonal(0, 1, 2), x.diagonal(0, 0, 2), x.diagonal(-1, 1, 0), torch.diagonal(x, 1, -2, -1))


@program("all", (torch.tensor([[1.0, 2, 2, 3], [5, 5, 4, 4], [1, 2, 3, 4.0]]),),
         (torch.tensor([[3.0, 3, 3], [2, 1, 1]]),))
def o_mode(x: T):
    v, i = x.mode()
    w, j = torch.mode(x, 0, True)
    u, k = torch.mode(x.long(), 1)
    return (v, i, w, j, u, k)


@program("all", (torch.tensor([1.0, float('nan'), 2.0, float('nan'), 2.0, -0.0, 0.0, 0.0,
         float('inf'), float('-inf')]),))
def o_mode_nan(x: T):
    return x.mode()


@program("all", (R(2, 2, 3),))
def o_affine(x: T):
    a = F.affine_grid(x, [2, 3, 4, 5], align_corners=True)
    b = F.affine_grid(x, [2, 3, 4, 5], align_corners=False)
    c = F.affine_grid(x, [2, 1, 1, 3], align_corners=True)
    d = F.affine_grid(x, [2, 1, 1, 1], align_corners=False)
    return (a, b, c, d)


@program("all", (R(2, 3, 4),))
def o_affine3(x: T):
    return (F.affine_grid(x, [2, 3, 2, 3, 4], align_corners=False), F.affine_grid(x, [2, 3, 2, 3, 4], align_corners=True))


@program("all", (R(2, 2, 3), R(2, 3, 6, 5)), (R(3, 2, 3), R(3, 1, 4, 4)))
def o_stn(t: T, x: T):
    g = F.affine_grid(t, x.size(), align_corners=False)
    return g * x[:, :1].unsqueeze(-1).mean()


@program("all", (R(4, 6) * 3,), (torch.tensor([[0.05, -0.05, 100.0, -100.0, 0.0, -0.0]]),))
def o_fake(x: T):
    a = torch.fake_quantize_per_tensor_affine(x, 0.1, 10, 0, 255)
    b = torch.fake_quantize_per_tensor_affine(x, 0.05, 0, -128, 127)
    c = torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1), torch.tensor(3, dtype=torch.int32), 0, 127)
    return (a, b, c)


@program("all", (R(4, 6) * 3,))
def o_fakec(x: T):
    return (torch.fake_quantize_per_channel_affine(x, torch.tensor([0.1, 0.2, 0.05, 0.3]), torch.tensor([0, 1, 2, 3], dtype=torch.int32), 0, 0, 15), torch.fake_quantize_per_channel_affine(x, torch.full((6,), 0.1), torch.zeros(6, dtype=torch.int32), 1, -8, 7))


@program("all", (R(4, 6),))
def o_qunary(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    s = torch.quantize_per_tensor(x, 0.05, 5, torch.qint8)
    return (torch.sigmoid(q).dequantize(), torch.tanh(q).dequantize(), torch.sigmoid(s).dequantize(), torch.tanh(s).dequantize(), torch.relu(q).dequantize(), q.clamp(-0.5, 0.5).dequantize(), q.mean().dequantize(), F.max_pool1d(q.unsqueeze(0), 2).dequantize(), torch.sigmoid(q).q_scale(), torch.sigmoid(s).q_zero_point(), torch.tanh(q).q_zero_point())


@program("all", (R(4, 6),))
def o_qhsig(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    s = torch.quantize_per_tensor(x, 0.05, 5, torch.qint8)
    a = F.hardsigmoid(q)
    b = F.hardsigmoid(s)
    return (a.dequantize(), b.dequantize(), a.q_scale(), a.q_zero_point(), b.q_zero_point())


@program("all", (R(4, 6),))
def o_qmisc(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    return (torch.ops.quantized.threshold(q, 0.2, 0.5).dequantize(), torch.ops.quantized.dropout(q, 0.05, 120, 0.5, False).dequantize(), torch.ops.quantized.max_pool2d(q.reshape(1, 1, 4, 6), [2, 2], [2, 2], [0, 0], [1, 1], False).dequantize(), torch.ops.quantized.max_pool1d(q.reshape(1, 4, 6), [2], [2], [0], [1], False).dequantize())


@program("all", (R(2, 4, 8),), atol=0.06)
def o_qconv1d(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    w = torch.quantize_per_tensor(torch.arange(72.0).reshape(6, 4, 3).sin(), 0.01, 0, torch.qint8)
    p = torch.ops.quantized.conv1d_prepack(w, torch.arange(6.0) * 0.1, [2], [1], [1], 1)
    y = torch.ops.quantized.conv1d(q, p, 0.05, 100)
    return y.dequantize()


@program("all", (R(2, 4, 8, 6),), atol=0.06)
def o_qconvt2d(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    w = torch.quantize_per_tensor(torch.arange(216.0).reshape(4, 6, 3, 3).sin(), 0.01, 0, torch.qint8)
    p = torch.ops.quantized.conv_transpose2d_prepack(w, torch.arange(6.0) * 0.1, [2, 2], [1, 1], [1, 0], [1, 1], 1)
    y = torch.ops.quantized.conv_transpose2d(q, p, 0.05, 100)
    return y.dequantize()


@program("all", (R(2, 4, 8),), atol=0.06)
def o_qconvt1d(x: T):
    q = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)
    w = torch.quantize_per_tensor(torch.arange(72.0).reshape(4, 6, 3).sin(), 0.01, 0, torch.qint8)
    p = torch.ops.quantized.conv_transpose1d_prepack(w, torch.arange(6.0) * 0.1, [2], [1], [1], [1], 1)
    y = torch.ops.quantized.conv_transpose1d(q, p, 0.05, 100)
    return y.dequantize()


@program("state", (R(3, 6), R(3, 5), R(3, 5, n=4)))
class o_lstmcell(nn.Module):

    def __init__(s):
        super().__init__()
        torch.manual_seed(3)
        s.c = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.LSTMCell(6, 5)), {nn.LSTMCell}, dtype=torch.qint8)[0]

    def forward(self, x: T, h: T, c: T):
        return self.c(x, (h, c))


@program("state", (R(3, 6), R(3, 5)))
class o_grucell(nn.Module):

    def __init__(s):
        super().__init__()
        torch.manual_seed(3)
        s.c = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.GRUCell(6, 5)), {nn.GRUCell}, dtype=torch.qint8)[0]

    def forward(self, x: T, h: T):
        return self.c(x, h)


@program("state", (R(3, 6), R(3, 5)))
class o_rnncell(nn.Module):

    def __init__(s):
        super().__init__()
        torch.manual_seed(3)
        s.c = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.RNNCell(6, 5)), {nn.RNNCell}, dtype=torch.qint8)[0]
        s.d = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.RNNCell(6, 5, nonlinearity='relu')), {nn.RNNCell}, dtype=torch.qint8)[0]

    def forward(self, x: T, h: T):
        return (self.c(x, h), self.d(x, h))


@program("all", (R(2, 2, 3),))
def o_affine_grid(x: T):
    return (torch.affine_grid_generator(x, [2, 3, 4, 5], True), torch.affine_grid_generator(x, [2, 1, 1, 2], False))


@program("all", (R(4),))
def v_same_tensor(x: T):
    a, b, c, d = x.clone(), x.clone(), x.clone(), x.clone()
    f, g, h, k = a.flatten(0), b.detach(), torch.as_tensor(c), d.data
    f.unsqueeze_(0)
    g.unsqueeze_(0)
    h.unsqueeze_(0)
    k.unsqueeze_(0)
    g.add_(1)
    k.mul_(2)
    return (a, b, c, d, f, g, h, k)


@program("all", (torch.tensor([0, 3, 127, 128, 255], dtype=torch.uint8),
                 torch.tensor([-128, -1, 0, 127], dtype=torch.int8)))
def n_clamp_far(x: T, y: T):
    return (torch.clamp(x, min=-3), torch.clamp(x, 5, 300), torch.clamp_max(x, 256), torch.clamp(y, -129, 4), torch.clamp_min(y, -1000), torch.clamp(y, max=128))


@program("all", (torch.tensor(float("inf")),), (torch.tensor(-0.5),))
def n_gelu_of_one(x: T):
    return (F.gelu(x), F.gelu(x.reshape(1, 1)))


SEGMENTS = torch.tensor([[1.0, -2], [float('nan'), 3], [4, 5], [-0.0, float('inf')], [6, 7.5]])


@program("all", (SEGMENTS, torch.tensor([2, 0, 3])), (R(4, 3), torch.tensor([0, 1, 3, 0])),
         (R(0, 2), torch.tensor([0, 0])), (R(3, 1), torch.tensor([3])))
def o_segments(x: T, n: T):
    return (torch.segment_reduce(x, "sum", lengths=n, axis=0), torch.segment_reduce(x, "mean", lengths=n, axis=0), torch.segment_reduce(x, "max", lengths=n, axis=0), torch.segment_reduce(x, "min", lengths=n, axis=0), torch.segment_reduce(x, "prod", lengths=n, axis=0), torch.segment_reduce(x, "mean", lengths=n, axis=0, initial=2.5), torch.segment_reduce(x, "max", lengths=n, axis=0, initial=1), torch.segment_reduce(x.to(torch.float16), "sum", lengths=n, axis=0, unsafe=True))


@program("all", (R(2, 5, 3), torch.tensor([[1, 4, 0], [2, 2, 1]])))
def o_segments2(x: T, n: T):
    return (torch.segment_reduce(x, "sum", lengths=n, axis=1), torch.segment_reduce(x, "mean", lengths=n, axis=-2), torch.segment_reduce(x[:, :, 0], "min", lengths=n, axis=1, initial=0.0))


@program("all", (R(5), torch.tensor([0, 2, 2, 5])), (R(3), torch.tensor([0, 3])))
def o_segments_offsets(x: T, at: T):
    return (torch.segment_reduce(x, "sum", offsets=at, axis=0), torch.segment_reduce(x, "prod", offsets=at, axis=0, initial=3.0))


@program("all", *BOTH)
def o_frequencies(x: T):
    n = x.size(1)
    return (torch.fft.fftfreq(n), torch.fft.fftfreq(7, 0.5), torch.fft.rfftfreq(n, 2.0), torch.fft.rfftfreq(1), torch.fft.fftfreq(8, dtype=torch.float64))


@program("all", (X, X + 1e-7), (X, X + 1), (X / 0, X / 0), (X[:0], X[:0]))
def o_allclose(x: T, y: T):
    return (torch.allclose(x, y), torch.allclose(x, y, 0.0, 2.0), torch.allclose(x * torch.nan, y * torch.nan, equal_nan=True))


@program("all", (X,), (X[:1],))
def o_distances(x: T):
    return (torch.ops.aten._pdist_forward(x), torch.ops.aten._pdist_forward(x, 1.0), torch.combinations(x[:, 0]), torch.combinations(x[0], 2, True))


@program("all", (R(4, 5), torch.tensor([0, 3, 4, 2])), (R(1, 3), torch.tensor([2])))
def o_smoothed_classes(x: T, t: T):
    w = torch.linspace(0.5, 1.5, x.size(1))
    a = F.cross_entropy(x, t, label_smoothing=0.1)
    b = F.cross_entropy(x, t, w, ignore_index=3, reduction="sum", label_smoothing=0.3)
    c = F.cross_entropy(x, t, w, ignore_index=3, label_smoothing=0.3)
    d = F.cross_entropy(torch.stack([x, x * 2], 2), torch.stack([t, t], 1), w, reduction="none", label_smoothing=1.0)
    return (a, b, c, d, F.cross_entropy(x[0], t[0], label_smoothing=0.5))


@program("all", *BOTH)
def o_decomposed(x: T):
    return (torch.ops.aten.rrelu_with_noise_functional(x, x + 1, 0.1, 0.5, False), F.rrelu(x), torch.ops.prims.fma(x, x[0], x + 1))


@program("all", (R(3, 6), R(3, 5)))
def o_cells(x: T, h: T):
    wi = torch.quantize_per_tensor(torch.arange(120.0).reshape(20, 6).sin(), 0.01, 0, torch.qint8)
    wh = torch.quantize_per_tensor(torch.arange(100.0).reshape(20, 5).cos(), 0.01, 0, torch.qint8)
    b = torch.arange(20.0) * 0.01
    p = torch.ops.quantized.linear_prepack(wi, b)
    r = torch.ops.quantized.linear_prepack(wh, b)
    a, c = torch.ops.quantized.quantized_lstm_cell_dynamic(x, [h, h], p, r, b, b)
    p3 = torch.ops.quantized.linear_prepack(wi[:15], b[:15])
    r3 = torch.ops.quantized.linear_prepack(wh[:15], b[:15])
    g = torch.ops.quantized.quantized_gru_cell_dynamic(x, h, p3, r3, b[:15], b[:15])
    p1 = torch.ops.quantized.linear_prepack(wi[:5], b[:5])
    r1 = torch.ops.quantized.linear_prepack(wh[:5], b[:5])
    t = torch.ops.quantized.quantized_rnn_tanh_cell_dynamic(x, h, p1, r1, b[:5], b[:5])
    u = torch.ops.quantized.quantized_rnn_relu_cell_dynamic(x, h, p1, r1, b[:5], b[:5])
    return (a, c, g, t, u)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1]) / "semantics"
    for program in PROGRAMS:
        write_case(out, *program)


if __name__ == "__main__":
    main()
