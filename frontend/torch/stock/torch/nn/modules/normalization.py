"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .. import functional as F
from .module import Module


class LayerNorm(Module):
    def forward(self, input):
        return torch.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Module):
    def forward(self, input):
        return torch.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    def forward(self, input):
        return torch.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(Module):
    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)
