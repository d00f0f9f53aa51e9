"""SPDX-License-Identifier: Apache-2.0"""
from .. import functional as F
from .module import Module


class Unfold(Module):
    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    def forward(self, input):
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding,
                      self.stride)
