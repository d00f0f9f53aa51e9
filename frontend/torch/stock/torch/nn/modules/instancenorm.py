"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    def forward(self, input):
        of_input = self.training or self.running_mean is None
        return torch.instance_norm(input, self.weight, self.bias, self.running_mean,
                                   self.running_var, of_input, self.momentum, self.eps, False)


class InstanceNorm1d(_InstanceNorm):
    pass


class InstanceNorm2d(_InstanceNorm):
    pass


class InstanceNorm3d(_InstanceNorm):
    pass
