"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class Identity(Module):
    _options = {}

    def forward(self, input):
        return input


class Linear(Module):
    def forward(self, input):
        return torch.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    pass


class _LinearWithBias(Linear):
    pass


class Bilinear(Module):
    def forward(self, input1, input2):
        return torch.bilinear(input1, input2, self.weight, self.bias)
