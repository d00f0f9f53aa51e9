#!/usr/bin/env python3
"""Writes scripted programs that use the language: strings, lists, dicts, classes, enums,
named tuples, interfaces, unions, control flow.

SPDX-License-Identifier: Apache-2.0

    scripted.py OUT_DIR

A case is a folder with model.pt, test_data_set_K/{input,output}_I.npy, values.json and
case.json, which `ingot verify` reads.  Expected values are those of the archive loaded by
torch again.  Needs torch.
"""

import json
import math
import pathlib
import sys
import warnings
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

warnings.filterwarnings("ignore")

import torch
import torch.nn as nn
import torch.nn.functional as F

from values_json import write_set

T = torch.Tensor


def clone(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, (tuple, list)):
        return type(value)(clone(item) for item in value)
    if isinstance(value, dict):
        return {k: clone(v) for k, v in value.items()}
    return value


def sc(name, module, sets):
    folder = OUT / name
    folder.mkdir(parents=True)
    torch.jit.script(module.eval()).save(str(folder / "model.pt"))
    case = {"name": name, "model": "model.pt", "tolerance": {"rtol": 1e-4, "atol": 1e-5}}
    (folder / "case.json").write_text(json.dumps(case))
    for index, args in enumerate(sets):
        method = "forward"
        if isinstance(args[0], str) and isinstance(args[1], tuple):
            method, args = args
        loaded = torch.jit.load(str(folder / "model.pt"))
        with torch.no_grad():
            result = getattr(loaded, method)(*clone(args))
        write_set(folder / f"test_data_set_{index}", args, result, method)


def randn(*size, n):
    torch.manual_seed(n)
    return torch.randn(*size)


# ---- programs ----

class Strings(nn.Module):
    def forward(self, x: T, s: str) -> Tuple[T, List[str], Dict[str, int], str]:
        parts = s.split(",")
        out: List[str] = []
        d: Dict[str, int] = {}
        for i, p in enumerate(parts):
            q = p.strip().upper().replace("A", "bb")
            out.append(q + "|" + str(i) + "|" + "{}-{}".format(len(q), q.lower()))
            d[q] = len(q) * 2 + q.find("B")
            if q.startswith("B") and not q.endswith("Z"):
                x = x * float(len(q)) + int("12") - float("0.5")
        j = "-".join(out)
        if "BB" in j.upper():
            x = x + 1
        t = j[1:5] + j[-1] + j[:3:1]
        t += "%d:%s" % (3, "q")
        t += "a,b c".title() + "xyz".capitalize() + "ab".center(6, "*") + "7".zfill(4) + "AbC".swapcase()
        t += str("abc".isalpha()) + str("12".isdigit()) + str("a1".isalnum()) + str(" ".isspace()) + str("ab".islower())
        t += ",".join("a-b-c".rsplit("-", 1)) + "".join(["l", "m"]) + "aXbX".rstrip("X") + "hello".ljust(7, ".") + str(3.5) + str(True)
        a, b, c = "k=v".partition("=")
        t += c + b + a + str("banana".count("an")) + str("banana".rfind("an"))
        return x, out, d, t

class Lists(nn.Module):
    def forward(self, x: T, n: List[int]) -> Tuple[T, List[int], List[T], List[float], List[Tuple[int, str]]]:
        a = [i * i for i in n]
        a.extend([7, 8])
        a.insert(1, -3)
        a.append(a.pop())
        a.reverse()
        b = a + n[1:] + [0] * 3
        b.sort(reverse=True)
        b[0] = 100
        b[-1] -= 1
        del b[1]
        b.remove(0)
        c = b.copy()
        c.clear()
        f = [float(i) / 2 for i in b]
        f.sort()
        ts: List[T] = [x[i] for i in range(x.size(0))]
        ts[0] = ts[0] + float(sum(b)) + float(max(b)) - float(min(b))
        ts = ts[::-1] if len(n) > 100 else ts
        pairs: List[Tuple[int, str]] = []
        for k, (i, v) in zip(n, enumerate(["p", "q", "r"])):
            pairs.append((k + i, v))
        y = x
        for t in ts:
            y = y + t
        y = y + b.index(100) + b.count(0) + len(c)
        if 100 in b and not (55 in b):
            y = y * 2
        q, r = divmod(-7, 3)
        y = y + q + r + (-7) // 2 + (-7) % 3 + (7 >> 1) + (1 << 3) + (6 & 3) + (6 | 1) + (6 ^ 3) + abs(-2) + round(2.5) + int(-2.7)
        s2 = sorted(n)
        y = y + s2[0] + s2[-1]
        return y, b, ts, f, pairs

class Dicts(nn.Module):
    def forward(self, x: Dict[str, T], k: str) -> Tuple[Dict[str, T], List[str], List[T], int, Dict[int, List[int]]]:
        out: Dict[str, T] = {}
        for key, v in x.items():
            out[key + "_x"] = v * 2
        if k in x:
            out["k"] = x[k]
        out["z"] = x.get("nothing", torch.ones(2))
        g = x.get(k)
        if g is not None:
            out["g"] = g + 1
        out.setdefault("sd", torch.zeros(1))
        p = out.pop("sd")
        out.update({"up": p + 5})
        keys = list(out.keys())
        keys.sort()
        vals = [v.sum() for v in out.values()]
        del out["z"]
        di: Dict[int, List[int]] = {}
        for i in range(5):
            if i % 2 not in di:
                e: List[int] = []
                di[i % 2] = e
            di[i % 2].append(i)
        dd = {i: i * 2 for i in range(3)}
        n = 0
        for i in dd:
            n += dd[i]
        return out, keys, vals, n + len(di), di

class Pt(NamedTuple):
    a: T
    b: int = 3
    c: Optional[T] = None

class Outer(NamedTuple):
    p: Pt
    names: List[str]

class Nt(nn.Module):
    def f(self, p: Pt) -> Outer:
        c = p.c
        if c is None:
            q = Pt(p.a * p.b)
        else:
            q = Pt(p.a + c, p.b + 1, c)
        return Outer(q, ["x", "y"])
    def forward(self, x: T, y: Optional[T]) -> Tuple[T, Outer, int]:
        o = self.f(Pt(x, c=y))
        a, b, c = o.p
        return a + b, o, len(o.names) + o.p.b

class Color(Enum):
    RED = "red"
    BLUE = "blue"

class Kind(Enum):
    A = 1
    B = 2

class En(nn.Module):
    def __init__(self):
        super().__init__(); self.k = Kind.B; self.names: Dict[str, int] = {"q": 4}
    def pick(self, c: Color) -> int:
        if c == Color.RED: return 1
        elif c == Color.BLUE: return 2
        return 3
    def forward(self, x: T, n: int) -> Tuple[T, str, int]:
        c = Color.RED if n > 0 else Color.BLUE
        ks = [Kind.A, Kind.B]
        tot = 0
        for k in Kind:
            tot += k.value
        for k in ks:
            if k == self.k: tot += 10
        return x * self.pick(c) + tot, c.value + c.name + self.k.name, self.names["q"]

@torch.jit.script
class Vec:
    def __init__(self, x: T, n: int = 2):
        self.x = x
        self.n = n
        self.log: List[str] = []
    def __add__(self, o: T) -> "Vec":
        return Vec(self.x + o, self.n + 1)
    def __getitem__(self, i: int) -> T:
        return self.x[i]
    def __len__(self) -> int:
        return self.n
    def __contains__(self, k: str) -> bool:
        return k in self.log
    def __lt__(self, o: "Vec") -> bool:
        return self.n < o.n
    def push(self, s: str):
        self.log.append(s)
        self.n += 1

class Cls(nn.Module):
    def forward(self, x: T) -> Tuple[T, int, bool, List[str]]:
        v = Vec(x)
        w = v + torch.ones(x.size(1))
        w.push("a")
        alias = w
        alias.push("b")
        alias.x += 1
        lst = [v, w]
        m = lst[0]
        for c in lst:
            if m < c:
                m = c
        return m[0] + w.x, len(w), "b" in w, m.log

class Mods(nn.Module):
    k: torch.jit.Final[int]
    def __init__(self):
        super().__init__()
        self.k = 3
        self.ml = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.md = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
        self.scale: List[float] = [1.0, 2.0, 0.5]
        self.opt: Optional[nn.Linear] = None
        self.sub = nn.BatchNorm1d(4)
    def forward(self, x: T) -> Dict[str, T]:
        out: Dict[str, T] = {}
        for i, l in enumerate(self.ml):
            x = l(x) * self.scale[i]
            out["l" + str(i)] = x
        for name, m in self.md.items():
            out[name] = m(x)
        for l in self.ml[1:]:
            x = x + l(x)
        if self.opt is not None:
            x = x * 1000
        if hasattr(self, "nothere"):
            x = x * 100
        if torch.jit.is_scripting():
            x = x + self.k
        with torch.no_grad():
            out["seq"] = self.seq(self.sub(x))
        return out
    @torch.jit.export
    def other(self, x: T, names: List[str]) -> List[T]:
        return [self.ml[0](x) + len(n) for n in names]

class Un(nn.Module):
    def un(self, v: Union[int, float, T, List[int], None]) -> float:
        if v is None: return -1.0
        if isinstance(v, int): return float(v)
        if isinstance(v, float): return v * 2
        if isinstance(v, T): return float(v.sum())
        return float(len(v))
    def any(self, a: Any) -> int:
        if isinstance(a, str): return len(a)
        if isinstance(a, (int, float)): return int(a)
        if isinstance(a, List[int]): return a[0]
        return -5
    def forward(self, x: T) -> Tuple[T, List[float], List[int]]:
        r = [self.un(3), self.un(1.5), self.un([1, 2]), self.un(None)]
        q = [self.any("abc"), self.any(7), self.any(2.5), self.any([4, 5]), self.any(None)]
        return x * r[0], r, q

class Flow(nn.Module):
    def search(self, xs: List[int], t: int) -> int:
        for i, v in enumerate(xs):
            if v == t: return i
        return -1
    def fact(self, n: int) -> int:
        r = 1
        while True:
            if n <= 1: break
            r *= n
            n -= 1
        return r
    def forward(self, x: T, xs: List[int]) -> Tuple[T, List[int]]:
        a = self.search(xs, 5); b = self.search(xs, 99)
        r = [a, b, self.fact(5)]
        for i in range(10):
            if i == 3: continue
            if i > 6: break
            for j in range(i):
                if j == 2: break
                r.append(i * 10 + j)
        assert len(r) > 3, "short"
        if len(xs) > 50: raise ValueError("long " + str(len(xs)))
        y = x
        i = 0
        while float(y.sum()) < 100.0 and i < 20:
            y = y * 1.5 + 1
            i += 1
        m = math.sqrt(2.0) + math.floor(2.7) + math.ceil(2.1) + math.log(math.e) + math.pow(2.0, 3.0) + math.sin(0.0) + math.pi + math.exp(0.0) + math.fabs(-1.0) + math.copysign(1.0, -2.0)
        return y + m, r

class Dev(nn.Module):
    def __init__(self):
        super().__init__(); self.register_buffer("b", torch.arange(6).reshape(2, 3)); self.w = nn.Parameter(torch.randn(3, 3))
    def forward(self, x: T) -> Tuple[T, int, bool, List[int], T]:
        y = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
        if x.device == torch.device("cpu") and x.dtype == torch.float32 and not x.is_cuda:
            y = y + 1
        z = x.to(torch.int64).to(self.b)
        s = list(x.shape)
        s[-1] = 1
        e = torch.empty([0, 2], dtype=torch.float)
        return y + self.b.sum() + e.numel(), x.dim() + x.ndim, x.is_floating_point(), s + [x.numel(), x.stride(0), x.element_size()], z @ self.w.T.to(torch.int64)

class Tup(nn.Module):
    def forward(self, x: Tuple[T, Tuple[T, int]], l: List[Tuple[T, str]]) -> Tuple[T, Tuple[List[T], Tuple[int, str]]]:
        a, (b, n) = x
        t = (a, b, n)
        u = t[:2]
        c = u[0] + u[1] * t[-1]
        r = [p[0] * 2 for p in l]
        names = ""
        for q, s in l:
            names = s + names
            c = c + q.mean()
        return c, (r, (len(t) + len(u), names))

class Cond(nn.Module):
    def forward(self, x: T, flag: bool, o: Optional[T] = None) -> Tuple[T, Optional[T], Optional[int]]:
        r: Optional[T] = None
        k: Optional[int] = None
        if flag:
            r = x * 2
            k = 3
        y = x if r is None else r + x
        if o is not None and o.numel() > 0:
            y = y + o
        z = y.relu() if bool(y.sum() > 0) else (y.tanh() if flag else -y)
        n = 0
        if bool((x > 0).any()):
            n = 1
            w = z + 1
        else:
            w = z - 1
        return w * (n + 1), r, k

class Cplx(nn.Module):
    def forward(self, x: T) -> Tuple[T, complex, float]:
        c = complex(1.0, 2.0)
        d = c * (3.0 - 1.5j) + 2
        return torch.complex(x, x * 2) * d, d, abs(d)

class Slices(nn.Module):
    def forward(self, x: T) -> Tuple[T, T, T, T]:
        x = x.clone()
        a = x[:, 1:, ..., None]
        b = x[..., -1].clone()
        b[0, 1:] = 5
        b[b > 4] = 0
        c = x[torch.tensor([0, 1]), :, torch.tensor([1, 0])]
        d = x[None, 0, ::2, 1]
        x[0] += 1
        x[:, 0] *= 2
        return a.contiguous(), b, c, d

class Forks(nn.Module):
    def __init__(self): super().__init__(); self.l = nn.Linear(3, 3)
    def work(self, x: T, k: int) -> Tuple[T, int]:
        return self.l(x) * k, k
    def forward(self, x: T) -> List[T]:
        futs: List[torch.jit.Future[Tuple[T, int]]] = []
        for i in range(3): futs.append(torch.jit.fork(self.work, x, i))
        out: List[T] = []
        for f in futs:
            y, k = torch.jit.wait(f)
            out.append(y + k)
        return out

@torch.jit.interface
class Op(nn.Module):
    def forward(self, x: T) -> T: pass
class Sq(nn.Module):
    def forward(self, x: T) -> T: return x * x
class Cu(nn.Module):
    def __init__(self): super().__init__(); self.e = 3
    def forward(self, x: T) -> T: return x ** self.e
class Face(nn.Module):
    op: Op
    def __init__(self, op): super().__init__(); self.op = op; self.ops = nn.ModuleList([Sq(), Cu()])
    def forward(self, x: T, k: int) -> T:
        m: Op = self.ops[k]
        return self.op.forward(x) + m.forward(x)

def gelu2(x: T, approximate: bool = False) -> T:
    return F.gelu(x, approximate="tanh" if approximate else "none") * 2
class Fns(nn.Module):
    def forward(self, x: T, mode: str) -> T:
        if mode == "a": return gelu2(x)
        elif mode == "b": return gelu2(x, approximate=True)
        return torch.stack([gelu2(x, False), x.abs()], dim=-1).max(dim=-1)[0]

class Mth(nn.Module):
    def forward(self, x: T, a: float, n: int) -> Tuple[T, List[float], List[bool]]:
        r = [math.sin(a), math.cos(a), math.tan(a), math.asin(a), math.acos(a), math.atan(a), math.sinh(a), math.cosh(a), math.tanh(a), math.asinh(a), math.atanh(a), math.log1p(a), math.log10(a), math.expm1(a), math.lgamma(a), math.gamma(a), math.erf(a), math.erfc(a), math.fabs(a), math.degrees(a), math.radians(a), math.fmod(a, 0.2), math.atan2(a, 0.3), math.copysign(a, -1.0), math.sin(n), math.acosh(a + 1), math.fmod(n, 2), math.atan2(n, a)]
        b = [math.isnan(a), math.isinf(a), math.isfinite(a)]
        return x * r[0], r, b
class Txt(nn.Module):
    def forward(self, x: T, s: str, n: int) -> Tuple[T, List[str]]:
        r: List[str] = []
        r.extend(s.rsplit("-")); r.extend(s.rsplit("-", 1)); r.extend(s.splitlines()); r.extend(s.splitlines(True))
        a, b, c = s.partition("-"); r += [a, b, c]
        d, e, f = s.rpartition("-"); r += [d, e, f]
        g, h, i = s.rpartition("??"); r += [g, h, i]
        r += [s.ljust(n, "."), s.rjust(n), s.center(n, "*"), s.center(n + 1, "*"), "-7".zfill(n), "7".zfill(n), s.swapcase()]
        r += [bin(n), hex(n * 1000), oct(-n), bin(0), "a".center(2, "<"), "ab".center(5, "<")]
        return x + len(r), r


class Picks(nn.Module):
    """Lists that are read and written where the run says: tensors, numbers, tuples."""

    def forward(self, x: T, i: T):
        tensors = [x * 1, x * 2, x * 3]
        n = int(i[0])
        a = tensors[n]
        tensors[int(i[1])] = x * 10
        whole, parts = [1, 5, 7], [0.5, 1.5]
        whole[int(i[0])] = int(i[1]) + 100
        pairs = [(x + 1, 1.5), (x + 2, 2.5)]
        p, q = pairs[int(i[2])]
        pairs[int(i[2])] = (x, 0.25)
        number = whole[0] + 10 * whole[1] + 100 * whole[2]
        return (a, torch.stack(tensors), number, parts[int(i[2])], p, q,
                pairs[0][0] + pairs[1][1], whole[n])


class Beam(nn.Module):
    """Hypotheses in a list that each step makes anew, from those that the run chooses."""

    def forward(self, x: T):
        words: List[T] = [torch.zeros(1, dtype=torch.long) for _ in range(2)]
        scores = torch.zeros(2)
        for t in range(3):
            scores, chosen = (scores.unsqueeze(1) + x[t]).flatten().topk(2)
            longer: List[T] = []
            for j in range(2):
                position = int(chosen[j])
                word = torch.tensor([position % x.size(2)])
                longer.append(torch.cat([words[position // x.size(2)], word]))
            words = longer
        return torch.stack(words), scores


class Selected(nn.Module):
    """A sort by selection: items change places as the run finds."""

    def forward(self, x: T):
        rows = [x[0], x[1], x[2]]
        for i in range(3):
            smallest = i
            for j in range(i + 1, 3):
                if bool(rows[j].sum() < rows[smallest].sum()):
                    smallest = j
            row = rows[i]
            rows[i] = rows[smallest]
            rows[smallest] = row
        return torch.stack(rows), torch.vander(rows[0]), torch.vander(x[:, 0], 2, True)


class Spectra(nn.Module):
    """A whole spectrum there and back, whose second half istft leaves alone."""

    def forward(self, x: T):
        window = torch.hamming_window(10)
        y = torch.stft(x, 15, 4, 10, window, onesided=False, return_complex=True)
        return torch.istft(y, 15, 4, 10, window, onesided=False, length=40)

# ---- cases ----

OUT = pathlib.Path(sys.argv[1])
torch.manual_seed(0)
x23 = randn(2, 3, n=1)
sc("strings", Strings(), [(x23, "ba, ca ,zz"), (x23, "a")])
sc("lists", Lists(), [(x23, [1, 2, 4, 3]), (x23, [6, 2, 8])])
sc("dicts", Dicts(), [({"a": randn(2, n=1), "b": randn(3, n=2)}, "b"), ({"q": randn(1, n=3)}, "r")])
sc("nt", Nt(), [(x23, None), (x23, randn(2, 3, n=5))])
sc("en", En(), [(x23, 1), (x23, -1)])
sc("cls", Cls(), [(x23,)])
sc("mods", Mods(), [(randn(2, 4, n=1),), ("other", (randn(2, 4, n=1), ["a", "bcd"]))])
sc("un", Un(), [(x23,)])
sc("flow", Flow(), [(x23, [3, 5, 7]), (x23 * 5 + 3, [1])])
sc("dev", Dev(), [(x23,)])
sc("tup", Tup(), [((x23, (x23 * 2, 3)), [(randn(2, n=1), "a"), (randn(3, n=2), "b")])])
sc("cond", Cond(), [(x23, True, None), (x23, False, randn(2, 3, n=8)), (-x23.abs(), False, None)])
sc("cplx", Cplx(), [(x23,)])
sc("slices", Slices(), [(randn(3, 4, 2, n=2),)])
sc("forks", Forks(), [(x23,)])
sc("face0", Face(Sq()), [(x23, 0), (x23, 1)])
sc("fns", Fns(), [(x23, "a"), (x23, "b"), (x23, "c")])
sc("mth", Mth(), [(x23, 0.3, 3), (x23, 0.75, -4)])
sc("txt", Txt(), [(x23, "aB-c-Dd", 10), (x23, "l1\nl2\r\n-l3\n", 3), (x23, "", 4)])
for k, at in enumerate(([0, 2, 1], [-1, -3, -2], [1, 1, 0])):
    sc(f"picks{k}", Picks(), [(x23, torch.tensor(at))])
sc("beam", Beam(), [(randn(3, 2, 5, n=4).log_softmax(-1),), (randn(3, 2, 4, n=5),)])
sc("selected", Selected(), [(randn(3, 4, n=6),), (randn(3, 3, n=7),)])
sc("spectra", Spectra(), [(randn(2, 40, n=8),), (randn(40, n=9),)])
