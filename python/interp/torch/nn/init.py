"""torch.nn.init: what is not drawn at random.

SPDX-License-Identifier: Apache-2.0
"""
import math


def constant_(tensor, val):
    return tensor.fill_(val)


def zeros_(tensor):
    return tensor.fill_(0)


def ones_(tensor):
    return tensor.fill_(1)


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    return {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}.get(nonlinearity, 1)


def _refuse(name):
    def draw(*args, **kwargs):
        raise NotImplementedError(f"nn.init.{name} draws random numbers, which would not be torch's")
    return draw


for _name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_",
              "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_"):
    globals()[_name] = _refuse(_name)
