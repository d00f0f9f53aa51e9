"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .module import Module


class ChannelShuffle(Module):
    def forward(self, input):
        return torch.channel_shuffle(input, self.groups)
