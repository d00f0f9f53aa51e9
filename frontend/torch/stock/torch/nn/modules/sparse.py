"""SPDX-License-Identifier: Apache-2.0"""
from .. import functional as F
from .module import Module


class Embedding(Module):
    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm)


class EmbeddingBag(Module):
    padding_idx = None  # what an older torch did not write
    include_last_offset = False

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, mode=self.mode,
                               per_sample_weights=per_sample_weights,
                               include_last_offset=self.include_last_offset,
                               padding_idx=self.padding_idx)
