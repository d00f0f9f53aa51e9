"""Functions of torch that it writes in Python over its operators.

SPDX-License-Identifier: Apache-2.0
"""
import torch


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    if dtype is not None:
        input = input.to(dtype)
    if p is None or p == "fro":
        p = 2
    assert not isinstance(p, str), "torch.norm: only p-norms"
    if dim is None:
        return torch.ops.aten.norm(input, p)
    return torch.ops.aten.norm(input, p, [dim] if isinstance(dim, int) else list(dim), keepdim)


def tensordot(a, b, dims=2, out=None):
    if isinstance(dims, int):
        left = [i for i in range(a.dim() - dims, a.dim())]
        right = [i for i in range(dims)]
    else:
        left, right = dims
        left = [left] if isinstance(left, int) else list(left)
        right = [right] if isinstance(right, int) else list(right)
    return torch.ops.aten.tensordot(a, b, left, right)


def split(tensor, split_size_or_sections, dim=0):
    return torch.ops.aten.split(tensor, split_size_or_sections, dim)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    if torch.is_tensor(data):
        return data.clone() if dtype is None else data.to(dtype).clone()
    if isinstance(data, tuple):
        data = list(data)
    return torch.ops.aten.tensor(data, dtype=dtype)


def as_tensor(data, dtype=None, device=None):
    if torch.is_tensor(data):
        return data if dtype is None else data.to(dtype)
    return torch.tensor(data, dtype=dtype)
