"""Networks of kinds that users export: three of each, and the calls they are judged by.

SPDX-License-Identifier: Apache-2.0

NETWORKS maps a kind to a generator of Network.  A network's `calls` are lists of
arguments: the first is what exporters see; `dynamic` are torch.export's dynamic_shapes;
`ways` are the exports that make sense, or None for all.  Weights are drawn by fixed seeds.
"""

import collections
from typing import Dict, List, Tuple

import torch
from torch import nn
from torch.export import Dim

F = nn.functional
T = torch.Tensor
Network = collections.namedtuple("Network", "module calls dynamic ways",
                                 defaults=(None, None))
TRACEABLE = ("traced", "exported", "core", "legacy", "dynamo")
B, L, S = Dim("B"), Dim("L"), Dim.AUTO


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def settle(module):
    """Running statistics that are not those of a fresh module."""
    for index, buffer in enumerate(module.buffers()):
        if buffer.is_floating_point():
            buffer.data.add_(uniform(*buffer.shape, seed=index) * .3)
    return module.eval()


# ---- speech ----

def conformer():
    import torchaudio
    sizes = [(16, 4, 32, 2, 7, False, False), (12, 2, 20, 1, 15, True, False),
             (24, 3, 48, 1, 3, False, True)]
    for dim, heads, width, layers, kernel, groups, first in sizes:
        module = torchaudio.models.Conformer(
            dim, heads, width, layers, kernel, use_group_norm=groups,
            convolution_first=first)
        yield Network(settle(module), [
            (normal(3, 9, dim), torch.tensor([9, 5, 7])),
            (normal(3, 9, dim, seed=1), torch.tensor([2, 9, 1])),
            (normal(2, 13, dim, seed=2), torch.tensor([13, 1]))],
            ({0: B, 1: L}, {0: B}))


def wav2vec():
    import torchaudio
    sizes = [("group_norm", False, False, 8, 4, None), ("layer_norm", True, True, 5, 2, 11),
             ("group_norm", True, False, 16, 8, 7)]
    for k, (norm, first, bias, kernel, groups, out) in enumerate(sizes):
        convolutions = [(16, 10, 5), (16, 3, 2), (24, 2, 2)][:2 + k % 2]
        module = torchaudio.models.wav2vec2_model(
            extractor_mode=norm, extractor_conv_layer_config=convolutions,
            extractor_conv_bias=bias, encoder_embed_dim=32, encoder_projection_dropout=0.,
            encoder_pos_conv_kernel=kernel, encoder_pos_conv_groups=groups,
            encoder_num_layers=2, encoder_num_heads=4, encoder_attention_dropout=0.,
            encoder_ff_interm_features=40, encoder_ff_interm_dropout=0.,
            encoder_dropout=0., encoder_layer_norm_first=first, encoder_layer_drop=0.,
            aux_num_out=out)
        # Left in, it is a module of which torch makes no second copy.
        position = module.encoder.transformer.pos_conv_embed.conv
        nn.utils.parametrize.remove_parametrizations(position, "weight")
        calls = [(normal(2, 400), torch.tensor([400, 233])),
                 (normal(2, 400, seed=1), torch.tensor([150, 400])),
                 (normal(3, 331, seed=2), torch.tensor([331, 40, 200]))]
        dynamic = ({0: B, 1: S}, {0: B})
        if k == 1:  # without lengths
            calls, dynamic = [call[:1] for call in calls], dynamic[:1]
        yield Network(module.eval(), calls, dynamic)


class Activity(nn.Module):
    """Says how likely there is speech: a spectrum, convolutions, a recurrent layer whose
    state is handed in and out."""

    def __init__(self, points, hop, hidden):
        super().__init__()
        self.points, self.hop = points, hop
        self.register_buffer("window", torch.hann_window(points))
        self.encoder = nn.Sequential(
            nn.Conv1d(points // 2 + 1, hidden, 3, padding=1), nn.ReLU(),
            nn.BatchNorm1d(hidden), nn.Conv1d(hidden, hidden, 3, stride=2, padding=1),
            nn.ReLU())
        self.rnn = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Conv1d(hidden, 1, 1)

    def spectrum(self, x: T) -> T:
        s = torch.stft(x, self.points, self.hop, window=self.window, center=True,
                       pad_mode="reflect", return_complex=True)
        return torch.log1p(s.abs())

    def forward(self, x: T, h: T, c: T) -> Tuple[T, T, T]:
        e = self.encoder(self.spectrum(x))
        y, (h, c) = self.rnn(e.transpose(1, 2), (h, c))
        return torch.sigmoid(self.out(y.transpose(1, 2).relu())).mean(2), h, c


class ActivityOfBasis(Activity):
    """The same with the spectrum as a convolution."""

    def __init__(self, points, hop, hidden):
        super().__init__(points, hop, hidden)
        waves = torch.fft.rfft(torch.eye(points), dim=1).t() * self.window
        self.register_buffer("basis", torch.cat([waves.real, waves.imag]).unsqueeze(1))

    def spectrum(self, x: T) -> T:
        x = F.pad(x.unsqueeze(1), (8, 8), mode="reflect")
        s = F.conv1d(x, self.basis, stride=self.hop)
        real, imag = s.chunk(2, 1)
        return (real ** 2 + imag ** 2 + 1e-6).sqrt()


class ActivityCell(nn.Module):
    """The same of one frame: an LSTM's cell."""

    def __init__(self, hidden):
        super().__init__()
        self.register_buffer("window", torch.hamming_window(24))
        self.cell, self.out = nn.LSTMCell(13, hidden), nn.Linear(hidden, 1)

    def forward(self, x: T, h: T, c: T) -> Tuple[T, T, T]:
        s = torch.fft.rfft(x * self.window).abs()
        h, c = self.cell(torch.log1p(s), (h, c))
        return torch.sigmoid(self.out(h)), h, c


def activity():
    for make, points, hop, hidden in [(Activity, 32, 16, 8), (ActivityOfBasis, 30, 7, 5)]:
        def call(batch, samples, seed):
            return tuple(normal(*shape, seed=seed + k) for k, shape in enumerate(
                [(batch, samples), (1, batch, hidden), (1, batch, hidden)]))
        torch.manual_seed(points)
        yield Network(settle(make(points, hop, hidden)),
                      [call(2, 160, 0), call(2, 160, 3), call(3, 201, 6)],
                      ({0: B, 1: S}, {1: B}, {1: B}))
    calls = [tuple(normal(batch, width, seed=seed + k)
                   for k, width in enumerate((24, 6, 6)))
             for batch, seed in ((2, 0), (2, 3), (5, 6))]
    yield Network(ActivityCell(6), calls, ({0: B}, {0: B}, {0: B}))


# ---- detection ----

class FirstImage(nn.Module):
    """Of a batch of one image: a detector's call that can be traced."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, x: T):
        found = self.detector([x[0]])[0]
        return found["boxes"], found["scores"], found["labels"]


class Images(nn.Module):
    """A detector's results; scripted detectors give (losses, results)."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, images: List[T]) -> List[Dict[str, T]]:
        found = self.detector(images)
        if torch.jit.is_scripting():
            return found[1]
        return found


def backbone(blocks, channels):
    import torchvision
    layers = torchvision.models.mobilenet_v3_small(weights=None).features[:blocks]
    layers.append(nn.Conv2d(channels, 32, 1))
    layers.out_channels = 32
    return layers


def faster_rcnn():
    from torchvision.models import detection as d
    from torchvision.models.detection.rpn import AnchorGenerator
    anchors = AnchorGenerator(((16, 32),), ((.5, 1., 2.),))
    return d.FasterRCNN(
        backbone(4, 24), rpn_anchor_generator=anchors, min_size=48, max_size=96,
        rpn_pre_nms_top_n_test=40, rpn_post_nms_top_n_test=12, box_detections_per_img=6,
        box_head=d.faster_rcnn.TwoMLPHead(32 * 49, 32),
        box_predictor=d.faster_rcnn.FastRCNNPredictor(32, 5), box_score_thresh=.05)


def retina():
    from torchvision.models import detection as d
    from torchvision.models.detection.rpn import AnchorGenerator
    anchors = AnchorGenerator(((8, 16, 32),), ((.5, 1., 2.),))
    return d.RetinaNet(backbone(6, 40), num_classes=4, anchor_generator=anchors,
                       min_size=64, max_size=80, detections_per_img=7,
                       topk_candidates=30, score_thresh=.005)


def fcos():
    from torchvision.models import detection as d
    from torchvision.models.detection.rpn import AnchorGenerator
    return d.FCOS(backbone(4, 24), num_classes=3, min_size=40, max_size=60,
                  anchor_generator=AnchorGenerator(((8,),), ((1.,),)),
                  detections_per_img=5, topk_candidates=20, score_thresh=.1)


def detection():
    for make in (faster_rcnn, retina, fcos):
        module = make()
        with torch.no_grad():
            for seed, weight in enumerate(module.parameters()):
                # Wider than fresh ones, so that no two boxes have one score.
                weight.add_(normal(*weight.shape, seed=seed) * .1)
        module = settle(module)
        yield Network(FirstImage(module), [(uniform(1, 3, 61, 75),)], None, TRACEABLE)
        yield Network(Images(module), [
            ([uniform(3, 61, 75), uniform(3, 50, 44, seed=1)],),
            ([uniform(3, 90, 45, seed=3)],)], None, ("scripted",))


# ---- filters and searches ----

class Kalman(nn.Module):
    """A linear filter over a sequence of measurements; `way` is how it inverts."""

    def __init__(self, states, measures, way: str):
        super().__init__()
        self.way = way
        self.F = nn.Parameter(torch.eye(states) + .1 * normal(states, states))
        self.H = nn.Parameter(normal(measures, states, seed=1))
        self.Q = nn.Parameter(.1 * torch.eye(states))
        self.R = nn.Parameter(.2 * torch.eye(measures) + .05)

    def inverse(self, S: T) -> Tuple[T, T]:
        """S's inverse, and the logarithm of its determinant."""
        if self.way == "formula":  # of two measures
            a, b, c, d = S[:, 0, 0], S[:, 0, 1], S[:, 1, 0], S[:, 1, 1]
            det = a * d - b * c
            rows = torch.stack([d, -b, -c, a], -1) / det.unsqueeze(-1)
            return rows.reshape(-1, 2, 2), det.log()
        if self.way == "inverse":
            return torch.linalg.inv(S), torch.linalg.slogdet(S)[1]
        L = torch.linalg.cholesky(S)
        one = torch.eye(S.size(-1), dtype=S.dtype).expand(S.shape)
        logdet = 2 * L.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return torch.cholesky_solve(one, L), logdet

    def step(self, x: T, P: T, z: T) -> Tuple[T, T, T]:
        x = torch.einsum("ij,bj->bi", self.F, x)
        P = self.F @ P @ self.F.t() + self.Q
        S, logdet = self.inverse(self.H @ P @ self.H.t() + self.R)
        y = z - x @ self.H.t()
        K = P @ self.H.t() @ S
        x = x + (K @ y.unsqueeze(-1)).squeeze(-1)
        A = torch.eye(P.size(-1), dtype=P.dtype) - K @ self.H
        P = A @ P @ A.transpose(1, 2) + K @ self.R @ K.transpose(1, 2)
        return x, P, -.5 * ((y.unsqueeze(1) @ S @ y.unsqueeze(2)).flatten() + logdet)

    def forward(self, z: T, x: T, P: T) -> Tuple[T, T, T]:
        states: List[T] = []
        total = torch.zeros(z.size(0), dtype=z.dtype)
        for t in range(z.size(1)):
            x, P, likely = self.step(x, P, z[:, t])
            states.append(x)
            total = total + likely
        return torch.stack(states, 1), P, total


def kalman():
    for n, m, way, dtype in [(4, 2, "formula", torch.float32),
                             (3, 3, "cholesky", torch.float32),
                             (5, 1, "inverse", torch.float64)]:
        def call(batch, seed):
            start = torch.eye(n).repeat(batch, 1, 1) * (1 + seed)
            return tuple(t.to(dtype) for t in (normal(batch, 6, m, seed=seed),
                                               normal(batch, n, seed=seed), start))
        yield Network(Kalman(n, m, way).to(dtype), [call(3, 0), call(3, 1), call(1, 2)],
                      ({0: B}, {0: B}, {0: B}))


class Beam(nn.Module):
    """A search of fixed width over a recurrent decoder; hypotheses are rows of tensors."""

    def __init__(self, words, hidden, width: int, steps: int):
        super().__init__()
        self.width, self.steps, self.words = width, steps, words
        self.table, self.cell = nn.Embedding(words, hidden), nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, words)

    def forward(self, h: T) -> Tuple[T, T]:
        B, K, V = h.size(0), self.width, self.words
        h = h.unsqueeze(1).expand(B, K, h.size(1)).reshape(B * K, -1)
        token = torch.full((B * K,), 1, dtype=torch.long)
        score = torch.cat([torch.zeros(B, 1), torch.full((B, K - 1), -1e9)], 1)
        rows = token.view(B, K, 1)
        done = torch.zeros(B, K, dtype=torch.bool)
        for _ in range(self.steps):
            h = self.cell(self.table(token), h)
            logits = torch.log_softmax(self.out(h), -1).view(B, K, V)
            stay = torch.where(torch.arange(V) == 2, 0., -1e9)
            logits = torch.where(done.unsqueeze(-1), stay, logits)
            score, index = (score.unsqueeze(-1) + logits).view(B, K * V).topk(K, dim=1)
            parent = torch.div(index, V, rounding_mode="floor")
            word = index % V
            position = parent.unsqueeze(-1)
            rows = torch.cat([rows.gather(1, position.expand(-1, -1, rows.size(2))),
                              word.unsqueeze(-1)], 2)
            done = done.gather(1, parent) | (word == 2)
            h = h.view(B, K, -1).gather(1, position.expand(-1, -1, h.size(1)))
            h = h.reshape(B * K, -1)
            token = word.reshape(-1)
        return rows, score


class BeamUntilDone(Beam):
    """The same until all hypotheses have ended."""

    def forward(self, h: T) -> Tuple[T, T]:
        B, K, V = h.size(0), self.width, self.words
        h = h.unsqueeze(1).expand(B, K, h.size(1)).reshape(B * K, -1)
        token = torch.full((B * K,), 1, dtype=torch.long)
        score = torch.full((B, K), -1e9)
        score[:, 0] = 0.
        rows = token.view(B, K, 1)
        done = torch.zeros(B, K, dtype=torch.bool)
        base = (torch.arange(B) * K).unsqueeze(1)
        for _ in range(self.steps):
            h = self.cell(self.table(token), h)
            logits = torch.log_softmax(self.out(h), -1).view(B, K, V)
            stay = torch.full((V,), -1e9)
            stay[2] = 0.
            logits = torch.where(done.unsqueeze(-1), stay, logits)
            score, index = (score.unsqueeze(-1) + logits).view(B, K * V).topk(K, dim=1)
            parent = torch.div(index, V, rounding_mode="floor")
            word = index % V
            position = parent.unsqueeze(-1).expand(B, K, rows.size(2))
            rows = torch.cat([rows.gather(1, position), word.unsqueeze(-1)], 2)
            done = done.gather(1, parent) | (word == 2)
            h = h.index_select(0, (base + parent).view(-1))
            token = word.view(-1)
            if bool(done.all()):
                break
        return rows, score


class BeamOfLists(nn.Module):
    """Hypotheses in a list that is made anew each step, found by numbers of the run."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width

    def forward(self, s: T) -> Tuple[T, T]:
        rows: List[T] = [torch.zeros(1, dtype=torch.long) for _ in range(self.width)]
        scores = torch.zeros(self.width)
        for t in range(s.size(0)):
            total = (scores.unsqueeze(1) + s[t]).flatten()
            scores, index = total.topk(self.width)
            longer: List[T] = []
            for j in range(self.width):
                at = int(index[j]) // s.size(2)
                word = int(index[j]) % s.size(2)
                longer.append(torch.cat([rows[at], torch.tensor([word])]))
            rows = longer
        return torch.stack(rows), scores


def beam():
    for words, hidden, width, steps in [(11, 8, 3, 5), (7, 6, 4, 8), (23, 5, 1, 3)]:
        torch.manual_seed(words)
        calls = [(normal(2, hidden) * 3,), (normal(2, hidden, seed=1) * 3,),
                 (normal(3, hidden, seed=2) * 3,)]
        module = Beam(words, hidden, width, steps)
        yield Network(module, calls, ({0: Dim.AUTO},))
        until_done = BeamUntilDone(words, hidden, width, steps)
        until_done.load_state_dict(module.state_dict())
        yield Network(until_done, calls, None, ("scripted",))
    for width in (2, 3):
        calls = [(normal(4, width, 5).log_softmax(-1),),
                 (normal(1, width, 4, seed=1).log_softmax(-1),)]
        yield Network(BeamOfLists(width), calls, None, ("scripted",))


# ---- recommendation ----

class Hstu(nn.Module):
    """Sequences of users in one jagged tensor: attention by SiLU, a bias for distances in
    places and in time."""

    def __init__(self, dim, heads, width, layers, longest):
        super().__init__()
        self.heads, self.width, self.longest = heads, width, longest
        self.uvqk = nn.ParameterList([
            nn.Parameter(normal(dim, heads * width * 4, seed=i) * .2)
            for i in range(layers)])
        self.out = nn.ModuleList([nn.Linear(heads * width, dim) for _ in range(layers)])
        self.places = nn.Parameter(normal(2 * longest - 1, seed=9) * .1)
        self.times = nn.Parameter(normal(32, seed=8) * .1)
        self.table = nn.Embedding(50, dim)

    def distances(self):
        position = torch.arange(self.longest)
        return self.places[position.unsqueeze(0) - position.unsqueeze(1) + self.longest - 1]

    def padded(self, a: T, at: T, valid: T) -> T:
        a = a[at] * valid.unsqueeze(-1)
        return a.view(at.size(0), self.longest, self.heads, self.width)

    def forward(self, ids: T, offsets: T, times: T) -> T:
        x, N = self.table(ids), self.longest
        position = torch.arange(N)
        lengths = offsets[1:] - offsets[:-1]
        valid = position.unsqueeze(0) < lengths.unsqueeze(1)
        at = (offsets[:-1].unsqueeze(1) + position).clamp(max=ids.size(0) - 1)
        row = torch.arange(ids.size(0))
        user = torch.bucketize(row, offsets[1:], right=True)
        inner = row - offsets[user]
        t = times[at] * valid
        apart = (t.unsqueeze(2) - t.unsqueeze(1)).abs().clamp(min=1).float().log() / .301
        bias = self.distances() + self.times[apart.long().clamp(0, 31)]
        mask = (position.unsqueeze(1) >= position.unsqueeze(0)) & valid.unsqueeze(1)

        for weight, out in zip(self.uvqk, self.out):
            u, v, q, k = F.silu(F.layer_norm(x, (x.size(1),)) @ weight).split(
                self.heads * self.width, 1)
            q, k, v = [self.padded(t, at, valid) for t in (q, k, v)]
            s = torch.einsum("bnhd,bmhd->bhnm", q, k) + bias.unsqueeze(1)
            s = F.silu(s) / N * mask.unsqueeze(1)
            y = torch.einsum("bhnm,bmhd->bnhd", s, v).reshape(at.size(0), N, -1)
            y = F.layer_norm(y[user, inner], (self.heads * self.width,))
            x = x + out(u * y)
        return x


class HstuOfOperators(Hstu):
    """The same by torch's operators on jagged tensors, without times."""

    def to_padded(self, a: T, offsets: T) -> T:
        a = torch.ops.aten._jagged_to_padded_dense_forward(a, [offsets], [self.longest], 0.)
        return a.view(offsets.size(0) - 1, self.longest, self.heads, self.width)

    def forward(self, ids: T, offsets: T, times: T) -> T:
        x, N, users = self.table(ids), self.longest, offsets.size(0) - 1
        mask = torch.tril(torch.ones(N, N))
        for weight, out in zip(self.uvqk, self.out):
            u, v, q, k = F.silu(F.layer_norm(x, (x.size(1),)) @ weight).split(
                self.heads * self.width, 1)
            q, k, v = [self.to_padded(t, offsets) for t in (q, k, v)]
            s = torch.einsum("bnhd,bmhd->bhnm", q, k) + self.distances()
            s = F.silu(s) / N * mask
            y = torch.einsum("bhnm,bmhd->bnhd", s, v).reshape(users, N, -1)
            y = torch.ops.aten._padded_dense_to_jagged_forward(y, [offsets], x.size(0))
            x = x + out(u * F.layer_norm(y, (self.heads * self.width,)))
        return x


def hstu():
    def call(lengths, seed):
        draw = torch.Generator().manual_seed(seed)
        count = sum(lengths)
        offsets = torch.tensor([0] + lengths).cumsum(0)
        return (torch.randint(0, 50, (count,), generator=draw), offsets,
                torch.randint(0, 9999, (count,), generator=draw))
    calls = [call([3, 5, 1], 0), call([0, 4, 5], 1), call([2, 0], 3)]
    ids = Dim("ids", min=2)
    for size in [(8, 2, 4, 2, 6), (12, 3, 2, 1, 9), (6, 1, 6, 3, 5)]:
        yield Network(Hstu(*size), calls, ({0: ids}, {0: Dim.AUTO}, {0: ids}))
        yield Network(HstuOfOperators(*size), calls, None,
                      ("scripted", "traced", "exported"))


# ---- 8-bit integers ----

class Mobile(nn.Module):
    """A stem, depthwise blocks, a short cut, perhaps squeeze and excitation."""

    def __init__(self, width, act=nn.ReLU6, excites=False):
        super().__init__()

        def block(i, o, kernel, stride, groups=1):
            return nn.Sequential(
                nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(o), act())
        w = width
        self.stem = nn.Sequential(block(3, w, 3, 2), block(w, w, 3, 1, w),
                                  block(w, 2 * w, 1, 1))
        self.body = nn.Sequential(
            block(2 * w, 6 * w, 1, 1), block(6 * w, 6 * w, 5, 2, 6 * w),
            nn.Conv2d(6 * w, 2 * w, 1, bias=False), nn.BatchNorm2d(2 * w))
        self.short = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.squeeze, self.excite = nn.Conv2d(2 * w, w, 1), nn.Conv2d(w, 2 * w, 1)
        self.out, self.excites = nn.Linear(2 * w, 10), excites

    def forward(self, x):
        x = self.stem(x)
        y = self.body(x)
        if self.excites:
            z = F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))
            y = y * F.hardsigmoid(self.excite(z))
        x = self.short(x) + y
        return self.out(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Dlrm(nn.Module):
    def __init__(self, dim, rows):
        super().__init__()
        count = len(rows) + 1
        self.bags = nn.ModuleList([nn.EmbeddingBag(r, dim, mode="sum") for r in rows])
        self.bottom = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, dim),
                                    nn.ReLU())
        self.top = nn.Sequential(nn.Linear(dim + count * (count - 1) // 2, 16), nn.ReLU(),
                                 nn.Linear(16, 1))
        first, second = torch.tril_indices(count, count, -1)
        self.register_buffer("first", first)
        self.register_buffer("second", second)

    def forward(self, x, ids, offsets):
        x = self.bottom(x)
        rows = [x] + [bag(ids[k], offsets[k]) for k, bag in enumerate(self.bags)]
        z = torch.stack(rows, 1)
        dots = (z @ z.transpose(1, 2))[:, self.first, self.second]
        return torch.sigmoid(self.top(torch.cat([x, dots], 1)))


class Converted(nn.Module):
    """A converted program, which knows no modes of its own."""

    def __init__(self, program):
        super().__init__()
        self.program = program
        self.training = False

    def forward(self, *args):
        return self.program(*args)

    def train(self, mode=True):
        return self


def quantizers():
    from torchao.quantization.pt2e.quantizer import arm_inductor_quantizer as arm
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    yield x86.X86InductorQuantizer().set_global(
        x86.get_default_x86_inductor_quantization_config())
    yield arm.ArmInductorQuantizer().set_global(
        arm.get_default_arm_inductor_quantization_config())
    yield x86.X86InductorQuantizer().set_global(
        x86.get_default_x86_inductor_quantization_config(is_dynamic=True))


def converted(module, calls, dynamic, quantizer):
    """PT2E's three steps: prepare, calibrate with the calls, convert."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    program = torch.export.export(module.eval(), calls[0], dynamic_shapes=dynamic)
    prepared = prepare_pt2e(program.module(), quantizer)
    for call in calls:
        prepared(*call)
    return Network(Converted(convert_pt2e(prepared)), calls, dynamic and (dynamic,),
                   TRACEABLE)


def mobile_8bit():
    kinds = [(8, nn.ReLU6, False), (6, nn.Hardswish, True), (4, nn.SiLU, False)]
    for kind, quantizer in zip(kinds, quantizers()):
        torch.manual_seed(kind[0])
        calls = [(normal(2, 3, 21, 27),), (normal(2, 3, 21, 27, seed=1),),
                 (normal(3, 3, 21, 27, seed=2),)]
        yield converted(settle(Mobile(*kind)), calls, ({0: B},), quantizer)


def dlrm_8bit():
    kinds = [(8, (40, 17, 60)), (4, (9, 33)), (16, (12, 9, 9, 70))]
    for (dim, rows), quantizer in zip(kinds, quantizers()):
        torch.manual_seed(dim)

        def call(seed):
            draw = torch.Generator().manual_seed(seed)
            ids = torch.randint(0, 9, (len(rows), 7), generator=draw)
            return normal(3, 5, seed=seed), ids, torch.tensor([[0, 2, 5]] * len(rows))
        yield converted(Dlrm(dim, rows), [call(0), call(1)], None, quantizer)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 64), nn.Linear(64, 16, bias=False)
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        return self.b(self.norm(F.gelu(self.a(x))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = [t.unflatten(-1, (4, -1)).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, -1)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


def torchao():
    from torchao.quantization import (Int8DynamicActivationInt8WeightConfig,
                                      Int8WeightOnlyConfig, quantize_)
    rows = [(normal(5, 32),), (normal(5, 32, seed=1),), (normal(2, 32, seed=2),)]
    texts = [(normal(2, 7, 32),), (normal(2, 7, 32, seed=1),), (normal(3, 4, 32, seed=2),)]
    for make, calls, dynamic, config in [
            (Mlp, rows, ({0: B},), Int8DynamicActivationInt8WeightConfig()),
            (Attention, texts, ({0: B, 1: L},), Int8WeightOnlyConfig()),
            (Attention, texts, ({0: B, 1: L},), Int8DynamicActivationInt8WeightConfig())]:
        torch.manual_seed(3)
        module = make().eval().requires_grad_(False)
        quantize_(module, config)
        yield Network(module, calls, dynamic, TRACEABLE)


NETWORKS = {make.__name__: make for make in (
    conformer, wav2vec, activity, detection, kalman, beam, hstu, mobile_8bit, dlrm_8bit,
    torchao)}
