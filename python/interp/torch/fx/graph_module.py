"""SPDX-License-Identifier: Apache-2.0"""
from ..nn.modules.module import Module


class GraphModule(Module):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.fx traces nothing here: graph modules come from packages")


def reduce_package_graph_module(importer, body, generated_module_name):
    """The module whose code is in the package, and whose attributes are `body`."""
    forward = importer.import_module(generated_module_name).forward
    kind = type(GraphModule.__name__, (GraphModule,), {"forward": forward})
    made = kind.__new__(kind)
    made.__dict__.update(body)
    return made
