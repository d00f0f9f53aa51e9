"""Modules that packages import and that have nothing to do here: torchvision's, say.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import sys
import types

import torch


def pass_on(*args, **kwargs):
    """A decorator that leaves the function as it is."""
    return lambda function: function


def make_shell(name, **names):
    module = types.ModuleType(name)
    vars(module).update(names)
    parent, _, last = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[parent], last, module)


def refuse_url(url, *args, **kwargs):
    raise OSError(f"{url} is not fetched: put the weights into the package")


def make_tuple(count):
    return lambda x: tuple(x) if hasattr(x, "__iter__") else (x,) * count


class Dataset:
    def __class_getitem__(cls, item):
        return cls


class QuantStub(torch.nn.Module):
    def __init__(self, qconfig=None):
        super().__init__()

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    pass


class DispatchKeys:
    """Keys of a dispatcher that is not there, by any name, and sets of them."""

    def __init__(self, *keys):
        pass

    def __getattr__(self, name):
        return self

    def __or__(self, other):
        return self


any_list = collections.defaultdict(lambda: list)
make_shell("torch._custom_ops", impl=pass_on, impl_abstract=pass_on)
make_shell("torch._dynamo", disable=lambda function=None, **how: function or pass_on(),
           allow_in_graph=lambda function: function)
make_shell("torch._dynamo.utils", is_compile_supported=lambda device: False)
make_shell("torch.ao")
make_shell("torch.ao.quantization", QuantStub=QuantStub, DeQuantStub=DeQuantStub)
make_shell("torch.jit.annotations", BroadcastingList1=any_list, BroadcastingList2=any_list,
           BroadcastingList3=any_list)
make_shell("torch.nn.modules.utils", _ntuple=make_tuple, _single=make_tuple(1),
           _pair=make_tuple(2), _triple=make_tuple(3), _quadruple=make_tuple(4))
make_shell("torch.onnx.operators")
make_shell("torch.onnx.symbolic_helper", parse_args=pass_on)
make_shell("torch.onnx.symbolic_opset11")
make_shell("torch.utils.data", Dataset=Dataset, IterableDataset=Dataset,
           ConcatDataset=Dataset, TensorDataset=Dataset, Subset=Dataset, Sampler=Dataset)
make_shell("torch.utils.model_zoo", load_url=refuse_url, tqdm=lambda items=None, **how: items)
torch.jit._script_if_tracing = torch.jit.script_if_tracing
torch.onnx.register_custom_op_symbolic = lambda *args, **kwargs: None
torch._C.DispatchKey, torch._C.DispatchKeySet = DispatchKeys(), DispatchKeys
