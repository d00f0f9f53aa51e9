"""Functions of Python's own library, for the evaluator: interpreters have them.

SPDX-License-Identifier: Apache-2.0"""


def enumerate(iterable, start=0):
    items = list(iterable)
    return [(start + i, items[i]) for i in range(len(items))]


def zip(*iterables):
    rows = [list(items) for items in iterables]
    count = min([len(row) for row in rows], default=0)
    return [tuple([row[i] for row in rows]) for i in range(count)]


def reversed(sequence):
    return list(sequence)[::-1]


def chain(*iterables):
    return [item for items in iterables for item in items]


def map(function, *iterables):
    return [function(*row) for row in zip(*iterables)]


def filter(function, iterable):
    return [item for item in iterable if (item if function is None else function(item))]


def reduce(function, iterable, *initial):
    items = list(initial) + list(iterable)
    assert items, "reduce() of empty sequence with no initial value"
    value = items[0]
    for item in items[1:]:
        value = function(value, item)
    return value
