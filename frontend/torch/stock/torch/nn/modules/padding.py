"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class _ConstantPadNd(Module):
    def forward(self, input):
        return torch.constant_pad_nd(input, self.padding, self.value)


class ConstantPad1d(_ConstantPadNd):
    pass


class ConstantPad2d(_ConstantPadNd):
    pass


class ConstantPad3d(_ConstantPadNd):
    pass


class ZeroPad1d(_ConstantPadNd):
    pass


class ZeroPad2d(_ConstantPadNd):
    pass


class ZeroPad3d(_ConstantPadNd):
    pass


class _ReflectionPadNd(Module):
    def forward(self, input):
        return torch.pad(input, self.padding, "reflect")


class ReflectionPad1d(_ReflectionPadNd):
    pass


class ReflectionPad2d(_ReflectionPadNd):
    pass


class ReflectionPad3d(_ReflectionPadNd):
    pass


class _ReplicationPadNd(Module):
    def forward(self, input):
        return torch.pad(input, self.padding, "replicate")


class ReplicationPad1d(_ReplicationPadNd):
    pass


class ReplicationPad2d(_ReplicationPadNd):
    pass


class ReplicationPad3d(_ReplicationPadNd):
    pass


class _CircularPadNd(Module):
    def forward(self, input):
        return torch.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd):
    pass


class CircularPad2d(_CircularPadNd):
    pass


class CircularPad3d(_CircularPadNd):
    pass
