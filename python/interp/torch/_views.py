"""Views: tensors whose elements are another's.

A view is a copy that knows where its elements lie in the tensor that owns them: what made it,
done to the numbers of the owner's elements, says so.  A change of any of them is written into the
owner, and from there into all its views that are alive.  So no operator knows of views, and one
that nobody changes costs nothing.  SPDX-License-Identifier: Apache-2.0
"""
import weakref

from . import _ops

# What is a view, or overlaps itself, depends on where elements lie in torch's memory.
UNSURE = {"reshape", "flatten", "ravel", "contiguous", "expand", "expand_as", "unfold",
          "as_strided", "broadcast_to", "to"}


class Origin:
    """What made a view: result `item` of an operator on `source`."""

    def __init__(self, source, name=None, args=(), kwargs=None, item=None):
        self.source, self.name, self.item = source, name, item
        self.args, self.kwargs = args, kwargs or {}
        self.owner = source._origin.owner if source._origin else source
        leads_surely = not source._origin or source._origin.is_sure
        self.is_sure = leads_surely and name not in UNSURE and (
            name != "view" or all(isinstance(a, (int, list, tuple)) for a in args))


def link(view, source, name, args, kwargs, item):
    """Makes `view` one of the tensor `source`."""
    view._origin = Origin(source, name, args, kwargs, item)
    owner = view._origin.owner
    if owner._views is None:
        owner._views = weakref.WeakValueDictionary()
    owner._views[id(view)] = view


def link_results(results, source, name, args, kwargs):
    items = results if isinstance(results, (list, tuple)) else [results]
    for i, view in enumerate(items):
        is_listed = items is results
        link(view, source, name, args, kwargs, i if is_listed else None)


def owner_of(x):
    return x._origin.owner if x._origin else x


def positions(x):
    """The numbers of x's elements among its owner's, of x's shape."""
    if not x._origin:
        return _ops.call("reshape", _ops.call("arange", x.numel()), list(x.shape))
    origin = x._origin
    before = positions(origin.source)
    if origin.name is None:
        return before
    made = _ops.call(origin.name, before, *origin.args, **origin.kwargs)
    return made if origin.item is None else made[origin.item]


def _flat(x):
    """x's elements in one row: nobody's view."""
    return _ops.call("reshape", type(x)._of(x._data, x.shape, x.dtype), [x.numel()])


def _flat_positions(at):
    return _ops.call("reshape", at, [at.numel()])


def check_change(x):
    """Refuses a change of x where it is not told who would see it."""
    owner = owner_of(x)
    views = list((owner._views or {}).values())
    if owner._is_shared or not all(v._origin.is_sure for v in views):
        raise NotImplementedError(
            "a change in place of a tensor that shares elements by numpy, reshape, expand or "
            "the like: write it as a new tensor, y = x + 1 for x += 1")
    if owner.dtype.letter and memoryview(owner._data).readonly:
        raise RuntimeError("a change in place of weights that all interpreters share")


def put(x, at, values):
    """Elements `at` (numbers) of x's owner become `values`, which has as many."""
    owner = owner_of(x)
    if at.numel():
        made = _ops.call("scatter", _flat(owner), 0, _flat_positions(at), _flat(values))
        owner._write(made)
        refresh(owner)


def refresh(owner):
    """After a change of the owner its views have its elements again."""
    for view in list((owner._views or {}).values()):
        if view.numel() and view._data is not owner._data:
            view._write(_ops.call("index_select", _flat(owner), 0, _flat_positions(positions(view))))
