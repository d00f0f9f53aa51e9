"""Models of what a user did: DIN, whose attention looks at a candidate, and SASRec, a causal
transformer that scores the next item.

    python sequences.py [--no-peer]

SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn

from side_by_side import compile_and_check, tell_speed

ITEMS, WIDTH, HISTORY = 2_000, 32, 50


class DIN(nn.Module):
    """Deep Interest Network: history weighted by what it has to do with the candidate."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH, padding_idx=0)
        self.unit = nn.Sequential(nn.Linear(4 * WIDTH, 36), nn.PReLU(), nn.Linear(36, 1))
        self.top = nn.Sequential(nn.Linear(2 * WIDTH, 64), nn.PReLU(), nn.Linear(64, 1))

    def forward(self, history, candidate):
        past, wanted = self.items(history), self.items(candidate).unsqueeze(1)
        wanted = wanted.expand_as(past)
        pairs = torch.cat([past, wanted, past - wanted, past * wanted], dim=2)
        weights = self.unit(pairs).squeeze(2) * (history != 0)
        interest = (weights.unsqueeze(2) * past).sum(1)
        return torch.sigmoid(self.top(torch.cat([interest, wanted[:, 0]], dim=1)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        heads = self.qkv(self.norm1(x)).view(batch, length, 3, 2, WIDTH // 2).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class SASRec(nn.Module):
    """Self-attentive sequential recommendation: scores of candidates after the history."""

    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH, padding_idx=0)
        self.places = nn.Embedding(HISTORY, WIDTH)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, history, candidates):
        x = self.items(history) * WIDTH ** 0.5 + self.places.weight
        for block in self.blocks:
            x = block(x)
        last = self.norm(x)[:, -1]
        return (self.items(candidates) * last.unsqueeze(1)).sum(2)


def main():
    torch.manual_seed(0)
    history = torch.randint(1, ITEMS, (32, HISTORY))
    history[::3, :20] = 0  # padding
    batch = torch.export.Dim("batch", min=2)
    for name, model, candidates in (("DIN", DIN(), torch.randint(1, ITEMS, (32,))),
                                    ("SASRec", SASRec(), torch.randint(1, ITEMS, (32, 100)))):
        inputs = (history, candidates)
        program = compile_and_check(model, inputs, ({0: batch}, {0: batch}))
        for rows in (2, 7, 32):  # any batch
            part = tuple(x[:rows] for x in inputs)
            torch.testing.assert_close(program(*part), model(*part).detach(), rtol=1e-4, atol=1e-5)
        tell_speed(f"{name}, batch 32", program, model, inputs)


main()
