"""How the results of a graph lie in memory.

A program gives rows without gaps; torch's own graph gives other strides, which code after a
graph break may read.

SPDX-License-Identifier: Apache-2.0
"""
import operator

import torch


# ---- strides ----

def _expr(extent):
    return extent.node.expr if isinstance(extent, torch.SymInt) else extent


def _hint(extent):
    return extent.node.hint if isinstance(extent, torch.SymInt) else extent


def _is_order(value, order):
    """Do the elements lie without gaps, the axes in that order from the outermost?"""
    sizes, strides, run = list(map(_expr, value.shape)), list(map(_expr, value.stride())), 1
    for axis in reversed(order):
        if sizes[axis] != 1 and strides[axis] != run:
            return False
        run *= sizes[axis]
    return True


def _order_of(value):
    """The axes from the outermost where elements lie without gaps, else None."""
    hints = [_hint(s) for s in value.stride()]
    if None in hints:
        return None
    order = sorted(range(value.dim()), key=lambda axis: -hints[axis])
    return order if _is_order(value, order) else None


def _give_order(order):
    back = [order.index(axis) for axis in range(len(order))]
    return lambda tensor, args: tensor.permute(order).contiguous().permute(back)


def _symbols_of(values):
    """Each symbol with a function of a call's arguments that gives its number."""
    found = {}
    for i, value in enumerate(values):
        if isinstance(value, torch.SymInt):
            found.setdefault(value.node.expr, lambda args, i=i: args[i])
        for axis, extent in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(extent, torch.SymInt):
                found.setdefault(extent.node.expr,
                                 lambda args, i=i, axis=axis: args[i].shape[axis])
    return {expr: read for expr, read in found.items() if expr.is_Symbol}


def _spread(tensor, strides):
    """A tensor of those elements with those strides, some of which may share memory."""
    if not tensor.numel():
        return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
    size = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, strides))
    indices = torch.arange(size).as_strided(tensor.shape, strides).reshape(-1)
    flat = tensor.new_zeros(size)
    flat[indices] = tensor.reshape(-1)
    return flat.as_strided(tensor.shape, strides)


def _give_strides(strides, symbols):
    """Strides with gaps, or 0: expressions of extents of arguments."""
    def give(tensor, args):
        known = {symbol: read(args) for symbol, read in symbols.items()}
        return _spread(tensor, [s if isinstance(s, int) else int(s.xreplace(known))
                                for s in strides])
    return give


def _give_known(value):
    """Of a result whose extents are known."""
    sizes, strides, order = tuple(value.shape), tuple(value.stride()), _order_of(value)
    if strides == torch.empty(sizes, device="meta").stride():
        return None
    if order is None or not value.numel():
        return lambda tensor, args: _spread(tensor, strides)
    return lambda tensor, args: (
        tensor.permute(order).contiguous().as_strided(sizes, strides))


def _strides_hook(value, symbols):
    if not any(isinstance(e, torch.SymInt) for e in (*value.shape, *value.stride())):
        return _give_known(value)
    if _is_order(value, list(range(value.dim()))):
        return None
    order = _order_of(value)
    if order:
        return _give_order(order)
    strides = [_expr(s) for s in value.stride()]
    free = set().union(*(s.free_symbols for s in strides if not isinstance(s, int)))
    return _give_strides(strides, symbols) if free <= set(symbols) else None


# ---- results ----

def result_hooks(results, arguments):
    """(index, hook) of the fake results that do not lie as a program gives them; the hook
    makes of its tensor one that does, and takes the call's arguments as well."""
    symbols = _symbols_of(arguments)
    hooks = [(i, _strides_hook(value, symbols)) for i, value in enumerate(results)
             if isinstance(value, torch.Tensor)]
    return [(i, hook) for i, hook in hooks if hook]


# ---- results that share memory ----

def is_view(node):
    """Is the call's result, or one of a list of them, memory of its first argument?"""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.args[0], torch.fx.Node) and is_view(node.args[0])
    return isinstance(node.target, torch._ops.OpOverload) and any(
        r.alias_info for r in node.target._schema.returns)


def base_of(node):
    """What the node's value may be a view of."""
    while is_view(node):
        node = node.args[0] if isinstance(node.args[0], torch.fx.Node) else node.args[0][0]
    return node


def _is_turned(node, base):
    """Is the value all of its base's elements in another order than row by row?  Then the base
    is given, which lies row by row, and not a copy of it that is copied back."""
    value, whole = node.meta.get("val"), base.meta.get("val")
    return (node is not base and base.op == "call_function"
            and isinstance(value, torch.Tensor) and isinstance(whole, torch.Tensor)
            and _expr(value.numel()) == _expr(whole.numel())
            and not _is_order(value, list(range(value.dim())))
            and _is_order(whole, list(range(whole.dim()))))


class _Number:
    """An argument of a view that follows from extents of the call's arguments."""

    def __init__(self, expr):
        self.expr = expr


def _views_of(node, symbols, used):
    """The calls that make the node's value of its base's; adds to `used` what they read."""
    def number_of(part):
        value = part.meta.get("val")
        if not isinstance(value, torch.SymInt) or value.node.expr.free_symbols - set(symbols):
            raise NotImplementedError(
                f"results share memory, and {node.target} takes numbers of the run")
        used.update(value.node.expr.free_symbols)
        return _Number(value.node.expr)

    steps, base = [], base_of(node)
    while node is not base:
        first, *rest = node.args
        if not isinstance(first, torch.fx.Node):
            raise NotImplementedError(f"results share memory with parts of {first}")
        steps.append((node.target, *torch.fx.node.map_arg((rest, node.kwargs), number_of)))
        node = first
    return steps[::-1]


class Views:
    """Results that are views of arguments or of other results: which, and how they are made.
    A program copies, so its own would not share their memory, and AOTAutograd reads of them
    where in an argument's memory they begin."""

    def __init__(self, graph):
        """Takes them out of the graph's results; false where there are none."""
        self.arguments = [n for n in graph.nodes if n.op == "placeholder"]
        self.symbols = _symbols_of([n.meta.get("val") for n in self.arguments])
        output = next(n for n in graph.nodes if n.op == "output")
        results = list(output.args[0])
        bases = [base_of(n) if isinstance(n, torch.fx.Node) else None for n in results]
        self.left, self.plan, self.used = [], [], set()
        for node, base in zip(results, bases, strict=True):
            is_shared = base is not None and (
                base.op == "call_function" and bases.count(base) > 1 or
                base.op == "placeholder")
            self._add(node, base, is_shared or base is not None and _is_turned(node, base),
                      must_share=is_shared and base.op == "call_function")
        if self:
            output.args = (tuple(self.left),)

    def __bool__(self):
        return len(self.left) < len(self.plan) or any(steps for _, _, steps in self.plan)

    def _add(self, node, base, is_shared, must_share):
        is_argument = is_shared and base.op == "placeholder"
        try:
            steps = _views_of(node, self.symbols, self.used) if is_shared else []
        except NotImplementedError:
            if must_share:
                raise
            is_shared = is_argument = False
            steps = []
        if is_argument:
            self.plan.append((True, self.arguments.index(base), steps))
            return
        if not is_shared or base not in self.left:
            self.left.append(base if is_shared else node)
        index = self.left.index(base) if is_shared else len(self.left) - 1
        self.plan.append((False, index, steps))

    def around(self, compiled):
        """The compiled graph with the results that were taken out."""
        def call(*args):
            made, results = compiled(*args) if self.left else (), []
            known = {symbol: self.symbols[symbol](args) for symbol in self.used}
            for is_argument, index, steps in self.plan:
                value = (args if is_argument else made)[index]
                for target, rest, names in steps:
                    rest, names = _with_numbers((rest, names), known)
                    value = target(value, *rest, **names)
                results.append(value)
            return tuple(results)
        return call


def _with_numbers(part, known):
    """The arguments of a view with numbers for those that follow from extents."""
    if isinstance(part, _Number):
        return int(part.expr.xreplace(known))
    if isinstance(part, (list, tuple)):
        return type(part)(_with_numbers(p, known) for p in part)
    if isinstance(part, dict):
        return {k: _with_numbers(p, known) for k, p in part.items()}
    return part
