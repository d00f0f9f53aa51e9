"""Embeddings of sentences: an encoder of MiniLM's shape, mean pooling over what is no padding,
and cosine similarity.

    python sentences.py [--no-peer]

Weights are random, so that nothing is downloaded; sentence-transformers' own are loaded into the
same modules.

SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn

from side_by_side import compile_and_check, tell_speed

WORDS, WIDTH, HEADS, LAYERS, LONGEST = 1_000, 96, 12, 6, 64


class Layer(nn.Module):
    """BERT's: attention, then a feed-forward net, each normalised after its sum."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask):
        heads = [part(x).unflatten(2, (HEADS, -1)).transpose(1, 2)
                 for part in (self.query, self.key, self.value)]
        mixed = nn.functional.scaled_dot_product_attention(*heads, attn_mask=mask)
        x = self.norm1(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, words, is_word):
        x = self.norm(self.words(words) + self.places.weight[:words.shape[1]])
        mask = is_word[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, mask)
        weight = is_word.unsqueeze(2).to(x.dtype)
        pooled = (x * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return nn.functional.normalize(pooled, dim=1)


def main():
    torch.manual_seed(0)
    model = Encoder()
    words = torch.randint(1, WORDS, (8, 24))
    words[1] = words[0]
    is_word = torch.ones_like(words)
    is_word[2:, 15:] = 0
    batch, length = torch.export.Dim("batch", min=2), torch.export.Dim("length", min=2, max=LONGEST)
    program = compile_and_check(model, (words, is_word), ({0: batch, 1: length},) * 2)
    vectors = program(words, is_word)
    likeness = vectors @ vectors.T
    assert abs(likeness[0, 1].item() - 1) < 1e-5, "the same sentence"

    # What stands behind the end of a sentence does not matter, nor how long the batch is.
    short = program(words[2:, :15].contiguous(), is_word[2:, :15].contiguous())
    torch.testing.assert_close(short, vectors[2:], rtol=1e-4, atol=1e-5)
    print(f"most alike of sentence 0: {likeness[0].argsort(descending=True)[:2].tolist()}")
    tell_speed("8 sentences of 24 words", program, model, (words, is_word))


main()
