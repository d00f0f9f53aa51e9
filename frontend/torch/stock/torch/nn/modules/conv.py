"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class _ConvNd(Module):
    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = torch.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            padding = 0
        return self._operator(input, weight, bias, self.stride, padding, self.dilation,
                              self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_ConvNd):
    _operator = staticmethod(torch.conv1d)


class Conv2d(_ConvNd):
    _operator = staticmethod(torch.conv2d)


class Conv3d(_ConvNd):
    _operator = staticmethod(torch.conv3d)


class _ConvTransposeNd(_ConvNd):
    def forward(self, input):
        return self._operator(input, self.weight, self.bias, self.stride, self.padding,
                              self.output_padding, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    _operator = staticmethod(torch.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    _operator = staticmethod(torch.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    _operator = staticmethod(torch.conv_transpose3d)
