"""A torch.package whose classes stay Python for several reasons, made without torch.

SPDX-License-Identifier: Apache-2.0

    plain_package.py OUT.pt
"""
import collections
import pickle
import sys
import types
import zipfile

SOURCE = '''\
import contextlib
import numpy as np
import torch
from torch import nn


def scaled(x):
    return x * np.float64(2)


class Fine(nn.Module):
    def forward(self, x):
        return x + 1


class Tries(nn.Module):
    def forward(self, x):
        try:
            return x + 1
        except ValueError:
            return x


class Yields(nn.Module):
    def parts(self, x):
        yield x

    def unused(self, x):
        global nothing

    def forward(self, x):
        with torch.no_grad():
            return sum(self.parts(x))


class Foreign(nn.Module):
    def forward(self, x):
        return scaled(x)


class Opens(Foreign):
    def forward(self, x):
        with contextlib.suppress(ValueError):
            return super().forward(x)


class Net(nn.Module):
    def forward(self, x):
        x = self.fine(x)
        for part in (self.tries, self.yields, self.opens):
            x = part(x)
        return x
'''
EMPTY = ("_parameters", "_buffers", "_modules", "_backward_hooks", "_forward_hooks",
         "_forward_pre_hooks")


def main(path):
    net = types.ModuleType("many.net")
    sys.modules.update({"many": types.ModuleType("many"), "many.net": net})
    for name in ("Fine", "Tries", "Yields", "Opens", "Net"):
        setattr(net, name, type(name, (), {"__module__": "many.net"}))

    def make(name, **modules):
        made = getattr(net, name)()
        made.training = False
        for key in EMPTY:
            setattr(made, key, collections.OrderedDict())
        made._modules.update(modules)
        return made

    root = make("Net", fine=make("Fine"), tries=make("Tries"), yields=make("Yields"),
                opens=make("Opens"))
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("many/.data/extern_modules", "torch\ntorch.nn\nnumpy\ncollections\n")
        z.writestr("many/.data/python_version", "3.11\n")
        z.writestr("many/.data/version", "6\n")
        z.writestr("many/many/__init__.py", "")
        z.writestr("many/many/net.py", SOURCE)
        z.writestr("many/model/model.pkl", pickle.dumps(root, protocol=2))


main(sys.argv[1])
