"""Operators of torch as other operators: the rows of aten/composite.def.

A function has its operator's name, and the names of the schema's arguments; overloads share one.
SPDX-License-Identifier: Apache-2.0
"""
import math

import torch


# ---- index ----

def _inside(self, indices):
    """Indices held within the extents."""
    return [index if index is None else index.clamp(0, self.size(axis) - 1)
            for axis, index in enumerate(indices)]


def _unsafe_masked_index(self, mask, indices, fill):
    return torch.ops.aten.index(self, _inside(self, indices)).masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    values = values.masked_fill(~mask, 0)
    return torch.ops.aten.index_put(self, _inside(self, indices), values, True)


def _chunk_cat(tensors, dim, num_chunks):
    dim = dim + tensors[0].dim() if dim < 0 else dim
    parts = []
    for x in tensors:
        step = (x.size(dim) + num_chunks - 1) // num_chunks
        short = step * num_chunks - x.size(dim)
        x = torch.ops.aten.constant_pad_nd(x, [0, 0] * (x.dim() - dim - 1) + [0, short])
        rest = step
        for size in x.shape[dim + 1:]:
            rest = rest * size
        parts.append(x.reshape(list(x.shape[:dim]) + [num_chunks, rest]))
    return torch.cat(parts, dim + 1)


def combinations(self, r=2, with_replacement=False):
    count = self.size(0)
    if r == 2:  # of any number of elements
        pairs = torch.ones([count, count]).triu(0 if with_replacement else 1)
        return self[pairs.nonzero()]
    rows = [[]]
    for _ in range(r):
        rows = [row + [i] for row in rows
                for i in range((row[-1] + (0 if with_replacement else 1)) if row else 0, count)]
    if r == 0 or not rows:
        return self.new_zeros([0, r] if r else [0])
    return self[torch.tensor(rows)]


# ---- torch.fft ----

def fft_fftfreq(n, d=1.0, dtype=None, layout=None, device=None, pin_memory=None):
    """0 and up to the middle, then from the most negative to -1."""
    half = (n + 1) // 2
    steps = torch.cat([torch.arange(half), torch.arange(half - n, 0)])
    return steps.to(torch.float32 if dtype is None else dtype) * (1.0 / (n * d))


def fft_rfftfreq(n, d=1.0, dtype=None, layout=None, device=None, pin_memory=None):
    steps = torch.arange(n // 2 + 1)
    return steps.to(torch.float32 if dtype is None else dtype) * (1.0 / (n * d))


def _reversed_norm(norm):
    return "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"


def fft_hfft(self, n=None, dim=-1, norm=None):
    return torch.ops.aten.fft_irfft(torch.conj_physical(self), n, dim, _reversed_norm(norm))


def fft_ihfft(self, n=None, dim=-1, norm=None):
    return torch.conj_physical(torch.ops.aten.fft_rfft(self, n, dim, _reversed_norm(norm)))


def _axes_of(self, s, dim):
    """Axes, and to how many elements each is cut or filled."""
    if dim is None:
        dim = range(self.dim() if s is None else len(s))
        dim = [axis - len(dim) for axis in dim]
    sizes = [None] * len(dim) if s is None else [None if n == -1 else n for n in s]
    return list(dim), sizes


def fft_hfftn(self, s=None, dim=None, norm=None):
    axes, sizes = _axes_of(self, s, dim)
    for i in range(len(axes) - 1):
        self = torch.ops.aten.fft_fft(self, sizes[i], axes[i], norm)
    return fft_hfft(self, sizes[-1], axes[-1], norm)


def fft_ihfftn(self, s=None, dim=None, norm=None):
    axes, sizes = _axes_of(self, s, dim)
    self = fft_ihfft(self, sizes[-1], axes[-1], norm)
    for i in range(len(axes) - 1):
        self = torch.ops.aten.fft_ifft(self, sizes[i], axes[i], norm)
    return self


def fft_hfft2(self, s=None, dim=(-2, -1), norm=None):
    return fft_hfftn(self, s, dim, norm)


def fft_ihfft2(self, s=None, dim=(-2, -1), norm=None):
    return fft_ihfftn(self, s, dim, norm)


# ---- numbers ----

def _floating(x):
    return x if x.is_floating_point() else x.to(torch.float32)


def _frexp_of(x, whole, mantissa_bits, exponents):
    """By the bits of IEEE's formats; denormals are scaled first."""
    middle = exponents // 2 - 2
    is_tiny = x.abs() < 2.0 ** -middle
    bits = torch.where(is_tiny, x * 2.0 ** (mantissa_bits + 2), x).view(whole)
    exponent = ((bits >> mantissa_bits) & (exponents - 1)) - middle
    exponent = exponent - is_tiny.to(whole) * (mantissa_bits + 2)
    rest = bits & ~((exponents - 1) << mantissa_bits)
    mantissa = (rest | (middle << mantissa_bits)).view(x.dtype)
    has_none = (x == 0) | ~torch.isfinite(x)
    return torch.where(has_none, x, mantissa), exponent.masked_fill(has_none, 0)


def frexp(self):
    if self.dtype == torch.float64:
        mantissa, exponent = _frexp_of(self, torch.int64, 52, 2048)
    else:
        mantissa, exponent = _frexp_of(self.to(torch.float32), torch.int32, 23, 256)
    return mantissa.to(self.dtype), exponent.to(torch.int32)


def _slice(x, axis, first, last):
    return torch.ops.aten.slice(x, axis, first, last)


def _ends(x, axis, order, steps):
    """The derivative at the first element along an axis, whose distances begin with `steps`."""
    a, b = _slice(x, axis, 0, 1), _slice(x, axis, 1, 2)
    if order == 1:
        return (b - a) / steps[0]
    near, far = steps
    c = _slice(x, axis, 2, 3)
    return (a * (-(2 * near + far) / (near * (near + far))) + b * ((near + far) / (near * far))
            - c * (near / (far * (near + far))))


def _gradient_along(x, axis, spacing, order):
    count = x.size(axis)
    axis = axis + x.dim() if axis < 0 else axis
    if torch.is_tensor(spacing):
        shape = [1] * axis + [count - 1] + [1] * (x.dim() - axis - 1)
        steps = torch.diff(spacing).reshape(shape)
        left, right = _slice(steps, axis, 0, -1), _slice(steps, axis, 1, count)
        middle = (_slice(x, axis, 0, -2) * (-right / (left * (left + right)))
                  + _slice(x, axis, 1, -1) * ((right - left) / (left * right))
                  + _slice(x, axis, 2, count) * (left / (right * (left + right))))
        first = [_slice(steps, axis, i, i + 1) for i in range(order)]
        last = [_slice(steps, axis, count - 2 - i, count - 1 - i) for i in range(order)]
    else:
        middle = (_slice(x, axis, 2, count) - _slice(x, axis, 0, -2)) / (2 * spacing)
        first = last = [spacing] * order
    end = -_ends(torch.flip(x, [axis]), axis, order, last)
    return torch.cat([_ends(x, axis, order, first), middle, end], axis)


def gradient(self, dim=None, edge_order=1, spacing=None):
    axes = list(range(self.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if not isinstance(spacing, (list, tuple)):
        spacing = [1.0 if spacing is None else spacing] * len(axes)
    return [_gradient_along(self, axes[i], spacing[i], edge_order) for i in range(len(axes))]


def mvlgamma(self, p):
    x = _floating(self)
    total = p * (p - 1) * 0.25 * math.log(math.pi)
    for j in range(p):
        total = total + torch.lgamma(x - 0.5 * j)
    return total


def special_multigammaln(self, p):
    return mvlgamma(self, p)


# Bernoulli's numbers B_2, B_4 ... over (2j)!
_BERNOULLI = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
              1 / 74724249600, -3617 / 10670622842880000]


def _zeta(s, q):
    """Hurwitz's zeta for f64 tensors and q > 0: ten terms, then Euler's and Maclaurin's sum."""
    total = torch.zeros_like(s + q)
    for k in range(10):
        total = total + (q + k) ** -s
    a = q + 10
    term = a ** -s
    total = total + a * term / (s - 1) + term / 2
    factor = s / a
    for j in range(len(_BERNOULLI)):
        total = total + _BERNOULLI[j] * factor * term
        factor = factor * (s + 2 * j + 1) * (s + 2 * j + 2) / (a * a)
    return total


def _cotangents(order, x):
    """The derivative of that order of cot(u) at u = pi x, a polynomial of the cotangent."""
    powers = [0, 1]  # of cot, whose derivative is -(1 + cot^2)
    for _ in range(order):
        slope = [k * powers[k] for k in range(1, len(powers))]
        powers = [-(slope[k] if k < len(slope) else 0) - (slope[k - 2] if k > 1 else 0)
                  for k in range(len(slope) + 2)]
    cot = torch.cos(math.pi * x) / torch.sin(math.pi * x)
    total = torch.zeros_like(x)
    for k in range(len(powers) - 1, -1, -1):
        total = total * cot + powers[k]
    return total


def polygamma(n, self):
    if n == 0:
        return torch.digamma(self)
    given = _floating(self)
    x = given.to(torch.float64)
    is_low = x < 0.5
    size = _zeta(torch.full_like(x, n + 1), torch.where(is_low, 1 - x, x)) * math.gamma(n + 1)
    sign = 1 if n % 2 else -1
    # the reflection at 1/2
    low = -size - math.pi ** (n + 1) * _cotangents(n, x - torch.floor(x))
    is_pole = is_low & (x == torch.floor(x))
    low = torch.where(is_pole, sign * float("inf"), low)
    return torch.where(is_low, low, sign * size).to(given.dtype)


def polygamma_(self, n):
    return self.copy_(polygamma(n, self))


def special_polygamma(n, self):
    return polygamma(n, self)


def _tensors(a, b):
    """Two arguments, of which one may be a number, in f64; and the dtype of the result."""
    if not torch.is_tensor(a):
        return torch.full([], a, dtype=torch.float64), b.to(torch.float64), _floating(b).dtype
    if not torch.is_tensor(b):
        return a.to(torch.float64), torch.full([], b, dtype=torch.float64), _floating(a).dtype
    one, other = (_floating(t).new_zeros([1] if t.dim() > 0 else []) for t in (a, b))
    return a.to(torch.float64), b.to(torch.float64), (one + other).dtype


def _greatest(x):
    """The maximum of integers as a number of the run; 0 of none."""
    return torch.max(x).clamp(min=0).item() if x.numel() > 0 else 0


def special_zeta(self, other):
    s, q, dtype = _tensors(self, other)
    whole = q == torch.floor(q)
    low = torch.ceil(torch.where((q < 0) & ~whole, -q, 0)).to(torch.int64)
    total = torch.zeros_like(s + q)
    for k in range(_greatest(low)):
        total = total + torch.where(k < low, (q + k) ** -s, 0)
    total = total + _zeta(s, q + low)
    total = torch.where((q <= 0) & (s != torch.floor(s)), float("nan"), total)
    total = torch.where((q <= 0) & whole, float("inf"), total)
    total = torch.where(s < 1, float("nan"), torch.where(s == 1, float("inf"), total))
    return total.to(dtype)


def special_ndtri(self):
    """Newton's steps on the logarithm, in the lower half."""
    given = _floating(self)
    p = given.to(torch.float64)
    low = torch.where(p > 0.5, 1 - p, p)
    goal = torch.log(low.clamp(min=5e-324))
    x = -torch.sqrt((-2 * goal - 2 * math.log(2)).clamp(min=0))
    for _ in range(8):
        log_ndtr = torch.special.log_ndtr(x)
        slope = torch.exp(-x * x / 2 - math.log(2 * math.pi) / 2 - log_ndtr)
        x = x - (log_ndtr - goal) / slope
    x = torch.where(p > 0.5, -x, x)
    x = torch.where(p == 0, float("-inf"), torch.where(p == 1, float("inf"), x))
    return torch.where((p >= 0) & (p <= 1), x, float("nan")).to(given.dtype)


# ---- polynomials of a degree that is data ----

def _recur(x, n, first, step):
    """1 and `first` at degrees 0 and 1, then step(k, before, last); 0 below degree 0."""
    before, last = torch.ones_like(x + n), first + torch.zeros_like(n)
    out = torch.where(n == 0, before, last)
    for at in range(_greatest(n.to(torch.int64) - 1)):
        k = at + 2
        now = step(k, before, last)
        out = torch.where(n >= k, now, out)
        before, last = last, now
    return torch.where(n < 0, 0, out)


def _degree(x, n):
    x, n, dtype = _tensors(x, n)
    return x, torch.trunc(n), dtype


def _chebyshev(x, n, first, at_one, at_minus_one, inside, few):
    """In closed form within -1 ... 1 beyond a few degrees, by recurrence elsewhere."""
    angle = torch.acos(x.clamp(-1, 1))
    is_inside = (x.abs() < 1) & (n > few)
    steps = torch.where(is_inside | (x.abs() == 1), 1, n)
    out = _recur(x, steps, first, lambda k, before, last: 2 * x * last - before)
    out = torch.where(n == 0, 1, torch.where(is_inside, inside(angle, n), out))
    sign = torch.where(torch.fmod(n, 2) == 0, 1, -1)
    out = torch.where(x == 1, at_one(n), torch.where(x == -1, sign * at_minus_one(n), out))
    return torch.where(n < 0, 0, out)


def _one(n):
    return torch.ones_like(n)


def _next(n):
    return n + 1


def _odd(n):
    return 2 * n + 1


def _half_cos(angle, n):
    return torch.cos((n + 0.5) * angle) / torch.cos(angle / 2)


def _half_sin(angle, n):
    return torch.sin((n + 0.5) * angle) / torch.sin(angle / 2)


def _chebyshev_t(x, n):
    return _chebyshev(x, n, x, _one, _one, lambda angle, n: torch.cos(n * angle), 6)


def _chebyshev_u(x, n):
    return _chebyshev(x, n, 2 * x, _next, _next,
                      lambda angle, n: torch.sin((n + 1) * angle) / torch.sin(angle), 8)


def _chebyshev_v(x, n):
    return _chebyshev(x, n, 2 * x - 1, _one, _odd, _half_cos, 8)


def _chebyshev_w(x, n):
    return _chebyshev(x, n, 2 * x + 1, _odd, _one, _half_sin, 8)


def special_chebyshev_polynomial_t(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_t(x, n).to(dtype)


def special_chebyshev_polynomial_u(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_u(x, n).to(dtype)


def special_chebyshev_polynomial_v(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_v(x, n).to(dtype)


def special_chebyshev_polynomial_w(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_w(x, n).to(dtype)


def special_shifted_chebyshev_polynomial_t(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_t(2 * x - 1, n).to(dtype)


def special_shifted_chebyshev_polynomial_u(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_u(2 * x - 1, n).to(dtype)


def special_shifted_chebyshev_polynomial_v(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_v(2 * x - 1, n).to(dtype)


def special_shifted_chebyshev_polynomial_w(x, n):
    x, n, dtype = _degree(x, n)
    return _chebyshev_w(2 * x - 1, n).to(dtype)


def special_hermite_polynomial_h(x, n):
    x, n, dtype = _degree(x, n)
    out = _recur(x, n, 2 * x, lambda k, before, last: 2 * x * last - 2 * (k - 1) * before)
    return out.to(dtype)


def special_hermite_polynomial_he(x, n):
    x, n, dtype = _degree(x, n)
    return _recur(x, n, x, lambda k, before, last: x * last - (k - 1) * before).to(dtype)


def special_laguerre_polynomial_l(x, n):
    x, n, dtype = _degree(x, n)
    out = _recur(x, n, 1 - x, lambda k, before, last: ((2 * k - 1 - x) * last
                                                       - (k - 1) * before) / k)
    return out.to(dtype)


def special_legendre_polynomial_p(x, n):
    x, n, dtype = _degree(x, n)
    out = _recur(x, n, x, lambda k, before, last: ((2 * k - 1) * x * last
                                                   - (k - 1) * before) / k)
    return out.to(dtype)


def linalg_vander(x, N=None):
    x = x.reshape([1]) if x.dim() == 0 else x
    count = x.size(-1) if N is None else N
    powers = x.unsqueeze(-1).expand(list(x.shape) + [count - 1])
    return torch.cat([torch.ones_like(x).unsqueeze(-1), torch.cumprod(powers, -1)], -1)


def vander(x, N=None, increasing=False):
    count = x.size(0) if N is None else N
    if count == 0:
        return x.new_zeros([x.size(0), 0])
    powers = linalg_vander(x, count)
    return powers if increasing else powers.flip(1)


def pdist(self, p=2.0):
    rows = combinations(torch.arange(self.size(0)), 2)
    return torch.ops.aten.linalg_vector_norm(self[rows[:, 0]] - self[rows[:, 1]], p, [1])


def _pdist_forward(self, p=2.0):
    return pdist(self, p)


def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(torch.isclose(self, other, rtol, atol, equal_nan).all())


# ---- counts ----

def _edges(x, bins, lowest, high):
    """bins + 1 numbers from least to most, tensors of one element, as linspace has them."""
    at = torch.arange(bins + 1).to(x.dtype)
    step = (high - lowest) / bins
    return torch.where(at < (bins + 1) // 2, lowest + step * at, high - step * (bins - at))


def _range_of(x):
    """The ends of the values, a little apart where they are all the same."""
    if x.numel() == 0:
        return x.new_zeros([]), x.new_ones([])
    lowest, high = torch.min(x), torch.max(x)
    apart = (lowest == high).to(x.dtype) / 2
    return lowest - apart, high + apart


def _count(x, edges, weight, density):
    """x [N, D] counted in the boxes that the edges of each axis make."""
    position = torch.zeros([x.size(0)], dtype=torch.int64)
    is_in = torch.ones([x.size(0)], dtype=torch.bool)
    total = 1
    for axis in range(len(edges)):
        bins = edges[axis].size(0) - 1
        value = x[:, axis].contiguous()
        is_in = is_in & (value >= edges[axis][0]) & (value <= edges[axis][bins])
        at = torch.searchsorted(edges[axis].contiguous(), value, right=True) - 1
        position = position * bins + at.clamp(0, bins - 1)
        total = total * bins
    weight = torch.ones_like(x[:, 0]) if weight is None else weight.reshape([-1])
    counts = x.new_zeros([total]).scatter_add(0, position, torch.where(is_in, weight, 0))
    counts = counts.reshape([e.size(0) - 1 for e in edges])
    if density:
        counts = counts / counts.sum()
        for axis in range(len(edges)):
            widths = torch.diff(edges[axis])
            counts = counts / widths.reshape([-1] + [1] * (len(edges) - axis - 1))
    return counts


def histogramdd(self, bins, range=None, weight=None, density=False):
    x = self.reshape([-1, self.size(-1)])
    edges = []
    for axis, count in enumerate(bins):
        if range is None:
            lowest, high = _range_of(x[:, axis])
        else:
            lowest, high = (x.new_full([], range[2 * axis + end]) for end in (0, 1))
        edges.append(_edges(x, count, lowest, high))
    return _count(x, edges, weight, density), edges


def histogram(self, bins=100, range=None, weight=None, density=False):
    x = self.reshape([-1, 1])
    if torch.is_tensor(bins):
        return _count(x, [bins], weight, density), bins
    counts, edges = histogramdd(x, [bins], range, weight, density)
    return counts, edges[0]


# ---- linear algebra ----

def linalg_tensorinv(self, ind=2):
    first, last = list(self.shape[:ind]), list(self.shape[ind:])
    rows = math.prod(last)
    return torch.linalg.inv(self.reshape([rows, rows])).reshape(last + first)


def linalg_tensorsolve(self, other, dims=None):
    if dims is not None:
        self = torch.movedim(self, list(dims), list(range(self.dim() - len(dims), self.dim())))
    last = list(self.shape[other.dim():])
    rows = math.prod(last)
    return torch.linalg.solve(self.reshape([rows, rows]), other.reshape([rows])).reshape(last)


def _reflector(input, i):
    """The i-th of Householder's vectors below the diagonal, [..., m, 1]."""
    at = torch.arange(input.size(-2))
    v = torch.where(at > i, input[..., i], 0)
    return torch.where(at == i, 1, v).to(input.dtype).unsqueeze(-1)


def _reflect(x, v, tau):
    return x - tau.unsqueeze(-1).unsqueeze(-1) * (v @ (v.transpose(-1, -2) @ x))


def linalg_householder_product(input, tau):
    rows, columns = input.size(-2), input.size(-1)
    q = torch.eye(rows, dtype=input.dtype)[:, :columns].expand(input.shape)
    for i in range(tau.size(-1) - 1, -1, -1):
        q = _reflect(q, _reflector(input, i), tau[..., i])
    return q


def orgqr(self, input2):
    return linalg_householder_product(self, input2)


def ormqr(self, input2, input3, left=True, transpose=False):
    x = input3 if left else input3.transpose(-1, -2)
    count = input2.size(-1)
    for k in range(count):
        i = k if left == transpose else count - 1 - k
        x = _reflect(x, _reflector(self, i), input2[..., i])
    return x if left else x.transpose(-1, -2)


def geqrf(self):
    """As LAPACK has it: R on and above the diagonal, the reflectors' vectors below."""
    x, taus = self, []
    at = torch.arange(self.size(-2))
    for i in range(min(self.size(-2), self.size(-1))):
        below = torch.where(at > i, x[..., i], 0)
        alpha = x[..., i, i]
        rest = below.square().sum(-1)
        beta = -torch.copysign((alpha.square() + rest).sqrt(), alpha)
        is_flat = rest == 0
        beta = torch.where(is_flat, alpha, beta)
        tau = torch.where(is_flat, 0, (beta - alpha) / beta)
        v = below / torch.where(is_flat, 1, alpha - beta).unsqueeze(-1)
        whole = torch.where(at == i, 1, v).unsqueeze(-1)
        later = _reflect(x[..., i + 1:], whole, tau)
        column = torch.where(at == i, beta.unsqueeze(-1), torch.where(at > i, v, x[..., i]))
        x = torch.cat([x[..., :i], column.unsqueeze(-1), later], -1)
        taus.append(tau)
    return x, torch.stack(taus, -1)


def _rows_of(pivots, count):
    """Which row of A is row i of P' A, [..., count]."""
    rows = torch.arange(count).expand(list(pivots.shape[:-1]) + [count])
    for i in range(pivots.size(-1)):
        other = pivots[..., i:i + 1].to(torch.int64) - 1
        here, there = rows[..., i:i + 1], rows.gather(-1, other)
        rows = rows.scatter(-1, other, here)
        rows = rows.scatter(-1, torch.full_like(other, i), there)
    return rows


def _permutation(pivots, count, dtype):
    rows = _rows_of(pivots, count)
    return (torch.arange(count).unsqueeze(-1) == rows.unsqueeze(-2)).to(dtype)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    rows, columns = LU_data.size(-2), LU_data.size(-1)
    none = LU_data.new_zeros([0])
    lower = upper = permutation = none
    if unpack_data:
        lower = torch.tril(LU_data[..., :min(rows, columns)], -1)
        lower = lower + torch.eye(rows, dtype=LU_data.dtype)[:, :min(rows, columns)]
        upper = torch.triu(LU_data[..., :min(rows, columns), :])
    if unpack_pivots:
        permutation = _permutation(LU_pivots, rows, LU_data.dtype)
    return permutation, lower, upper


def _linalg_check_errors(info, api_name, is_matrix):
    torch._assert_async((info == 0).all(), api_name + ": an input matrix is singular, or not what "
                        "the function takes")


def linalg_lu(A, pivot=True):
    factors, pivots = torch.ops.aten.linalg_lu_factor(A, pivot=pivot)
    return lu_unpack(factors, pivots)


def _lu_with_info(self, pivot=True, check_errors=True):
    return torch.ops.aten.linalg_lu_factor_ex(self, pivot=pivot)


def linalg_lu_solve(LU, pivots, B, left=True, adjoint=False):
    if not left:
        turned = linalg_lu_solve(LU, pivots, B.transpose(-1, -2), True, not adjoint)
        return turned.transpose(-1, -2)
    permutation = _permutation(pivots, LU.size(-2), LU.dtype)
    solve = torch.ops.aten.linalg_solve_triangular
    if adjoint:
        turned = LU.transpose(-1, -2)
        x = solve(turned, B, upper=False)
        return permutation @ solve(turned, x, upper=True, unitriangular=True)
    x = solve(LU, permutation.transpose(-1, -2) @ B, upper=False, unitriangular=True)
    return solve(LU, x, upper=True)


def lu_solve(self, LU_data, LU_pivots):
    return linalg_lu_solve(LU_data, LU_pivots, self)


def linalg_matrix_exp(self):
    """Taylor's sum of a matrix of norm 1/2 at most, squared as often as it was halved."""
    x = self.to(torch.complex128 if torch.is_complex(self) else torch.float64)
    norm = torch.nan_to_num(x.abs().sum(-2)).max() if x.numel() > 0 else torch.zeros([])
    halvings = torch.ceil(torch.log2(norm.clamp(min=0.5))).clamp(max=1000).to(torch.int64) + 1
    x = x / torch.exp2(halvings.to(torch.float64))
    term, total = x, x + torch.eye(x.size(-1), dtype=torch.float64)
    for k in range(2, 15):
        term = (term @ x) / k
        total = total + term
    for _ in range(halvings.item()):
        total = total @ total
    return total.to(self.dtype)


def matrix_exp(self):
    return linalg_matrix_exp(self)


# ---- backward ----

def _safe_softmax(self, dim, dtype=None):
    is_nothing = (self == float("-inf")).all(dim, True)
    return torch.softmax(self, dim, dtype).masked_fill(is_nothing, 0)


def cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100,
                       label_smoothing=0.0):
    """Of class numbers: their loss, and that of all classes alike beside it."""
    axis = 1 if self.dim() > 1 else 0
    log = torch.log_softmax(self, axis)
    loss = torch.ops.aten.nll_loss_nd(log, target, weight, reduction, ignore_index)
    is_left_out = target == ignore_index
    weighed = log if weight is None else log * weight.view([-1] + [1] * (self.dim() - axis - 1))
    rest = (-weighed.sum([axis])).masked_fill(is_left_out, 0)
    if reduction == 1:
        counts = (torch.ones_like(rest) if weight is None
                  else weight[target.masked_fill(is_left_out, 0)])
        rest = rest.sum() / counts.masked_fill(is_left_out, 0).sum()
    elif reduction == 2:
        rest = rest.sum()
    return (1 - label_smoothing) * loss + label_smoothing / self.size(axis) * rest


def fma(a, b, c):
    """What torch.compile makes of addcmul and addcdiv."""
    return a * b + c


def rrelu_with_noise_functional(self, noise, lower=0.125, upper=1 / 3, training=False,
                                generator=None):
    return torch.ops.aten.rrelu(self, lower, upper, training), noise


def multilabel_margin_loss(self, target, reduction=1):
    """Targets of a row end at the first that is negative."""
    x, classes = torch.atleast_2d(self), torch.atleast_2d(target)
    is_there = (classes < 0).to(torch.int64).cumsum(1) == 0
    held = classes.masked_fill(~is_there, 0)
    chosen = torch.gather(x, 1, held)
    is_target = torch.zeros_like(x).scatter_add(1, held, is_there.to(x.dtype)) > 0
    margins = (1 - chosen.unsqueeze(2) + x.unsqueeze(1)).clamp_min(0)
    counts = is_there.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = margins.masked_fill(~counts, 0).sum(2).sum(1) / x.size(1)
    if reduction == 0:
        return loss if self.dim() == 2 else loss[0]
    return loss.mean() if reduction == 1 else loss.sum()


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    g = grad_output * output
    return (g - output * g.sum(dim, True)).to(input_dtype)


def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    return (grad_output - torch.exp(output) * grad_output.sum(dim, True)).to(input_dtype)


def native_dropout_backward(grad_output, mask, scale):
    return grad_output * (mask.to(grad_output.dtype) * scale)


def _give_to_maxima(grad_output, self, indices, axes):
    """Each gradient to the element that the pool took, of the last `axes` axes as one."""
    out = torch.zeros_like(self).flatten(-axes)
    out = out.scatter_add(-1, indices.flatten(-axes), grad_output.flatten(-axes))
    return out.view(self.shape)


def adaptive_max_pool2d_backward(grad_output, self, indices):
    return _give_to_maxima(grad_output, self, indices, 2)


def adaptive_max_pool3d_backward(grad_output, self, indices):
    return _give_to_maxima(grad_output, self, indices, 3)


def _cdist_backward(grad, x1, x2, p, cdist):
    """Points that are the same have no direction: 0."""
    if p == 0:
        return torch.zeros_like(x1)
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    far, grad = cdist.unsqueeze(-1), grad.unsqueeze(-1)
    if p == math.inf:
        share = (apart.abs() == far).to(apart.dtype)
    elif p == 1:
        share = torch.ones_like(apart)
    else:
        share = (apart.abs() / far) ** (p - 1)
    return torch.where(apart == 0, 0.0, grad * apart.sign() * share).sum(-2)


def _pdist_backward(grad, self, p, pdist):
    """As of all pairs in both orders; a point is not apart from itself."""
    n = self.size(0)
    row, column = torch.arange(n).unsqueeze(1), torch.arange(n).unsqueeze(0)
    low, high = torch.minimum(row, column), torch.maximum(row, column)
    pair = low * (2 * n - low - 1) // 2 + high - low - 1
    none = row == column
    pair = pair.masked_fill(none, 0)
    return _cdist_backward(grad[pair].masked_fill(none, 0), self, self, p,
                           pdist[pair].masked_fill(none, 0))


def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return torch.where(self > 0, grad_output, grad_output * negative_slope)


def masked_scatter_backward(grad_output, mask, sizes):
    """By the source, whose elements went to the places of the mask one after the other."""
    count = 1
    for size in sizes:
        count = count * size
    is_taken = mask.expand_as(grad_output).flatten()
    at = (is_taken.to(torch.int64).cumsum(0) - 1).masked_fill(~is_taken, count)
    taken = grad_output.flatten().masked_fill(~is_taken, 0)
    return grad_output.new_zeros([count + 1]).scatter_add(0, at, taken)[:count].view(sizes)


def _embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode,
                                               padding_idx=-1):
    """Each weight's bag gives its gradient along the row that it weighed."""
    at = torch.arange(indices.size(0)).to(offsets.dtype)
    bags = torch.searchsorted(offsets, at, right=True) - 1
    along = (grad[bags] * weight[indices]).sum(1)
    return along.masked_fill(indices == padding_idx, 0)


def _weight_norm_interface_backward(grad_w, saved_v, saved_g, saved_norms, dim):
    axes = [i for i in range(saved_v.dim()) if i != dim % saved_v.dim()]
    along = (grad_w * saved_v).sum(axes, True)
    scale = saved_g / saved_norms
    return (scale * (grad_w - saved_v * (along / (saved_norms * saved_norms))),
            along / saved_norms)


def empty_permuted(size, physical_layout, dtype=None, layout=None, device=None, pin_memory=None):
    return torch.empty(size, dtype=dtype)


def new_empty_strided(self, size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    return self.new_empty(size, dtype=dtype)
