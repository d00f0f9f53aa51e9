"""How the results of a graph lie in memory.

A program gives rows without gaps; torch's own graph gives other strides, which code after a
graph break may read.

SPDX-License-Identifier: Apache-2.0
"""
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
    places = torch.arange(size).as_strided(tensor.shape, strides).reshape(-1)
    flat = tensor.new_zeros(size)
    flat[places] = tensor.reshape(-1)
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
