"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class CosineSimilarity(Module):
    def forward(self, x1, x2):
        return torch.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    def forward(self, x1, x2):
        return torch.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
