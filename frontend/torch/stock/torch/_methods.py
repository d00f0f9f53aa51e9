"""Methods of tensors that torch writes in Python.  SPDX-License-Identifier: Apache-2.0"""
import torch


def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    return torch.norm(self, p, dim, keepdim, None, dtype)


def split(self, split_size, dim=0):
    return torch.ops.aten.split(self, split_size, dim)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    return torch.tensor(data, dtype=self.dtype if dtype is None else dtype)


def type(self, dtype=None, non_blocking=False):
    return self.to(dtype)


def cuda(self, device=None, non_blocking=False):
    raise RuntimeError("tensors have no device here")
