"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class Flatten(Module):
    _options = {"start_dim": 1, "end_dim": -1}

    def forward(self, input):
        return torch.flatten(input, self.start_dim, self.end_dim)


class Unflatten(Module):
    def forward(self, input):
        return torch.unflatten(input, self.dim, self.unflattened_size)
