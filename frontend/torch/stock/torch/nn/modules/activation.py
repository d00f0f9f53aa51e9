"""SPDX-License-Identifier: Apache-2.0"""
import torch

from .. import functional as F
from ._attention import Attention
from .module import Module


class ReLU(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.relu(input, inplace=self.inplace)


class ReLU6(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.relu6(input, inplace=self.inplace)


class Sigmoid(Module):
    def forward(self, input):
        return torch.sigmoid(input)


class Tanh(Module):
    def forward(self, input):
        return torch.tanh(input)


class GELU(Module):
    _options = {"approximate": "none"}
    approximate = "none"  # what an older torch did not write

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)


class SiLU(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.silu(input, inplace=self.inplace)


class Mish(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.mish(input, inplace=self.inplace)


class Softplus(Module):
    _options = {"beta": 1.0, "threshold": 20.0}

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)


class Softsign(Module):
    def forward(self, input):
        return F.softsign(input)


class Hardtanh(Module):
    _options = {"min_val": -1.0, "max_val": 1.0, "inplace": False}

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, inplace=self.inplace)


class Hardsigmoid(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.hardsigmoid(input, inplace=self.inplace)


class Hardswish(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.hardswish(input, inplace=self.inplace)


class ELU(Module):
    _options = {"alpha": 1.0, "inplace": False}

    def forward(self, input):
        return F.elu(input, self.alpha, inplace=self.inplace)


class CELU(Module):
    _options = {"alpha": 1.0, "inplace": False}

    def forward(self, input):
        return F.celu(input, self.alpha, inplace=self.inplace)


class SELU(Module):
    _options = {"inplace": False}

    def forward(self, input):
        return F.selu(input, inplace=self.inplace)


class LeakyReLU(Module):
    _options = {"negative_slope": 0.01, "inplace": False}

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, inplace=self.inplace)


class RReLU(Module):
    _options = {"lower": 1 / 8, "upper": 1 / 3, "inplace": False}

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    def forward(self, input):
        return torch.prelu(input, self.weight)


class LogSigmoid(Module):
    def forward(self, input):
        return F.logsigmoid(input)


class Softmax(Module):
    _options = {"dim": None}

    def forward(self, input):
        return F.softmax(input, self.dim)


class LogSoftmax(Module):
    _options = {"dim": None}

    def forward(self, input):
        return F.log_softmax(input, self.dim)


class Softmin(Module):
    _options = {"dim": None}

    def forward(self, input):
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    def forward(self, input):
        return F.softmax(input, -3)


class Threshold(Module):
    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, inplace=self.inplace)


class Hardshrink(Module):
    _options = {"lambd": 0.5}

    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class Softshrink(Module):
    _options = {"lambd": 0.5}

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class Tanhshrink(Module):
    def forward(self, input):
        return F.tanhshrink(input)


class GLU(Module):
    _options = {"dim": -1}

    def forward(self, input):
        return F.glu(input, self.dim)


class MultiheadAttention(Attention):
    pass
