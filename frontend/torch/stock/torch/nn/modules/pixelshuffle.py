"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class PixelShuffle(Module):
    def forward(self, input):
        return torch.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    def forward(self, input):
        return torch.pixel_unshuffle(input, self.downscale_factor)
