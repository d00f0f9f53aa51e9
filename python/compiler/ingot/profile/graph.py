"""A graph of dynamo, in the forms that the engines take.

Dynamo gives a graph its weights as inputs, and with open extents also the extents.  Engines
want a module that holds its weights and takes tensors only.

SPDX-License-Identifier: Apache-2.0
"""
import torch


class Bound(torch.nn.Module):
    """The graph with its weights: forward takes the tensors that change from call to call."""

    def __init__(self, graph, inputs):
        super().__init__()
        self.graph_module = graph.module
        self.count, self.given = len(inputs), graph.given
        self.names, self.sizes = {}, dict(graph.sizes)
        self.numbers = graph.numbers(inputs)
        for holder in graph.static:
            self.names[holder] = f"weight_{holder}"
            value = inputs[holder]
            if isinstance(value, torch.nn.Parameter):
                setattr(self, self.names[holder], torch.nn.Parameter(value.detach(), False))
            else:
                self.register_buffer(self.names[holder], value)

    def forward(self, *tensors):
        args = [None] * self.count
        for holder, name in self.names.items():
            args[holder] = getattr(self, name)
        for holder, tensor in zip(self.given, tensors):
            args[holder] = tensor
        for holder, (which, axis) in self.sizes.items():
            args[holder] = tensors[which].shape[axis]
        for holder, number in self.numbers.items():
            args[holder] = number
        return self.graph_module(*args)


def _symbol_of(value):
    return value.node.expr if isinstance(value, torch.SymInt) else None


class Graph:
    """What dynamo captured.

    number: from 1 up in each function.
    given: places of the inputs that are tensors and no weights.
    open_axes: for each of them, {axis: name} of the extents that are open.
    sizes: {place of an extent among the inputs: (which of the given, axis)}.
    changed: places of inputs that the graph changes; known after the first call.
    """

    def __init__(self, number, module):
        self.number, self.module = number, module
        holders = [n for n in module.graph.nodes if n.op == "placeholder"]
        values = [n.meta.get("example_value") for n in holders]
        self.weights = {i for i, n in enumerate(holders)
                        if "_dynamo_static_input_type" in (n.meta.get("tensor_dict") or {})}
        self.values, self.changed = values, None
        self._arrange()

    def _arrange(self):
        static = self.weights - (self.changed or set())
        self.static = sorted(static)
        self.given = [i for i, v in enumerate(self.values)
                      if isinstance(v, torch.Tensor) and i not in static]
        self.open_axes, axis_of = [], {}
        for which, holder in enumerate(self.given):
            symbols = {axis: _symbol_of(extent)
                       for axis, extent in enumerate(self.values[holder].shape)}
            self.open_axes.append({a: str(s) for a, s in symbols.items() if s is not None})
            for axis, symbol in symbols.items():
                axis_of.setdefault(symbol, (which, axis))
        self.sizes = {i: axis_of[_symbol_of(v)] for i, v in enumerate(self.values)
                      if isinstance(v, torch.SymInt) and _symbol_of(v) in axis_of}

    def numbers(self, inputs):
        """{place: value} of inputs that are numbers and no extents."""
        return {i: v for i, v in enumerate(inputs)
                if not isinstance(v, torch.Tensor) and i not in self.sizes}

    def held(self, inputs):
        """What an engine holds of them: numbers, and weights as they are now.  Modules of
        one structure share a graph."""
        weights = ((i, id(inputs[i]), inputs[i]._version) for i in self.static)
        return (*self.numbers(inputs).items(), *weights)

    @property
    def is_dynamic(self):
        return any(self.open_axes)

    def run_eagerly(self, inputs):
        """The results, and the inputs as they were before, for the engines."""
        if self.changed is None:
            before = [v.clone() if isinstance(v, torch.Tensor)
                      and not isinstance(v, torch.nn.Parameter) else v for v in inputs]
            versions = [getattr(v, "_version", 0) for v in inputs]
            results = self.module(*inputs)
            self.changed = {i for i, v in enumerate(inputs)
                            if getattr(v, "_version", 0) != versions[i]}
            self._arrange()
        else:
            before = [v.clone() if i in self.changed else v for i, v in enumerate(inputs)]
            results = self.module(*inputs)
        return results, [b if i in self.changed else v
                         for i, (b, v) in enumerate(zip(before, inputs))]

    def tensors(self, inputs):
        """Those of a call's inputs that engines take."""
        return tuple(inputs[i] for i in self.given)
