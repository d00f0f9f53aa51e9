"""Rows of control flow, local functions and sequences.

SPDX-License-Identifier: Apache-2.0

Bodies are drawn like graphs, knowing the values of their first round, and read what is
around them.  The whole node is then run as any other.
"""

import numpy as np
from onnx import helper, numpy_helper

from chain import VARIANTS, dtype_of
from graph import Rejected, Scope, Value
from binding import CODES
from rows import ROWS, row

MAX_NESTING = 3  # bodies inside each other


def draw_nodes(g, count):
    """`count` nodes of any row, of which some may fail."""
    nested = len(g.scopes) > MAX_NESTING
    names = [n for n in ROWS if any(r.since <= g.opset <= r.last for r in ROWS[n]) and
             not (nested and n in ("If", "Loop", "Scan", "local"))]
    weights = [max(r.weight for r in ROWS[n]) for n in names]
    made = 0
    for _ in range(4 * count):
        name = g.random.choices(names, weights)[0]
        fitting = [r for r in ROWS[name] if r.since <= g.opset <= r.last]
        try:
            g.choice(fitting).draw(g, name)
            made += 1
        except Rejected as error:
            g.rejections[f"{name}: rejected"] += 1
            g.last_rejection = (name, str(error))
        if made >= count:
            break
    return made


def info(value, name=None, unknown=False):
    shape = None if unknown else [None] * value.rank
    return helper.make_tensor_value_info(name or value.name, CODES[value.dtype], shape)


def tensors_of(scope):
    """Values that the scope's own nodes make: what a body may give."""
    made = {o for n in scope.nodes for o in n.output}
    return [v for v in scope.values if not v.is_sequence and v.name in made]


def give(g, scope, value):
    """A body's output under a name of the body: outer values and inputs are copied."""
    if value in tensors_of(scope):
        return value
    return g.add("Identity", [value])


def open_scope(g, inputs=(), is_closed=False):
    g.scopes.append(Scope(list(inputs), is_closed=is_closed))
    return g.scopes[-1]


def body_input(g, first):
    return Value(g.fresh(), [first] * (1 + VARIANTS))


def rounds_of(*scopes):
    """Of a node with such bodies: its inputs move, for what the nodes inside round."""
    rounds = tuple(map(max, *(s.rounds for s in scopes), (0, 0, 0.0)))
    return (max(2, rounds[0]), 4 * max(1, rounds[1]), 4 * rounds[2]) if any(rounds) else (
        0, 0)


def drop_scopes(g, depth):
    del g.scopes[depth:]


@row("If", weight=8)
def branch(g, op):
    condition = g.find(["bool"], lambda v: v.size == 1 and v.rank <= 1)
    condition = condition or g.put(np.array(g.chance(0.5)))
    depth = len(g.scopes)
    like, bodies, scopes = None, [], []
    count = g.between(1, 2)
    for side in ("then", "else"):
        scope = open_scope(g)
        try:
            draw_nodes(g, g.between(1, 4))
            made = tensors_of(scope)
            if like is None:
                if not made:
                    raise Rejected("an empty branch")
                chosen = [give(g, scope, g.choice(made)) for _ in range(count)]
                like = [(v.dtype, v.shape) for v in chosen]
            else:
                if g.chance(0.1):  # of another rank than the first branch's
                    like = [(dtype, g.draw_shape(0, 3)) for dtype, _ in like]
                chosen = [give(g, scope, alike(g, dtype, shape)) for dtype, shape in like]
            chosen = [v if chosen.index(v) == i else g.add("Identity", [v])
                      for i, v in enumerate(chosen)]
        except Rejected:
            drop_scopes(g, depth)
            raise
        scopes.append(g.close_scope())
        bodies.append(helper.make_graph(scope.nodes, side, [], [
            info(v, unknown=True) for v in chosen], scope.initializers))
    g.tally[f"nested {depth}"] += 1
    g.add(op, [condition], count, rounds_of(*scopes), then_branch=bodies[0], else_branch=bodies[1])


def alike(g, dtype, shape):
    """A value of that type: mostly of that shape."""
    same = [v for v in g.visible() if not v.is_sequence and v.dtype == dtype]
    exact = [v for v in same if v.shape == shape]
    ranked = [v for v in same if v.rank == len(shape)]
    if exact and g.chance(0.7):
        return g.choice(exact)
    if ranked and g.chance(0.3):
        return g.choice(ranked)
    return g.make(dtype, shape)


@row("Loop", weight=8)
def loop(g, op):
    rounds = g.choice((0, 1, 2, 3, 3, 5))
    carried = [g.pick(highest=3) for _ in range(g.between(0, 2))]
    depth = len(g.scopes)
    number = Value(g.fresh(), [np.array(0, np.int64)] * (1 + VARIANTS))
    keep = Value(g.fresh() + "k", [np.array(True)] * (1 + VARIANTS))
    inside = []
    for value in carried:
        inside.append(Value(g.fresh() + f"c{len(inside)}", value.variants))
    scope = open_scope(g, [number, keep] + inside)
    try:
        draw_nodes(g, g.between(1, 4))
        ends_itself = g.chance(0.35)
        if ends_itself:
            limit = g.constant(np.array(g.between(0, 3)))
            if g.opset < 9:
                raise Rejected("no Less of integers")
            again = give(g, scope, g.add("Less", [number, limit]))
        else:
            again = give(g, scope, keep)
        nexts = []
        for value in inside:
            found = [v for v in tensors_of(scope) if v.dtype == value.dtype and
                     v.shape == value.shape]
            if found:
                chosen = g.choice(found)
            elif value.dtype in g.allowed("Add"):
                chosen = g.add("Add", [value, value], rounds=(0, 1))
            else:
                chosen = value
            nexts.append(g.add("Identity", [chosen]))
        made = tensors_of(scope)
        scans = [g.add("Identity", [g.choice(made)])
                 for _ in range(g.between(0 if nexts else 1, 2))]
    except Rejected:
        drop_scopes(g, depth)
        raise
    g.close_scope()
    body = helper.make_graph(
        scope.nodes, "body", [info(v) for v in [number, keep] + inside],
        [info(v) for v in [again] + nexts] + [info(v) for v in scans],
        scope.initializers)
    trips = g.numbers_in(rounds, shape=())
    first = g.put(np.array(g.chance(0.9))) if g.chance(0.4) else None
    if ends_itself and g.chance(0.5):
        trips = g.constant(np.array(g.choice((2**63 - 1, 10**12, 2**31 - 1)))) if (
            g.chance(0.6)) else None
    g.tally[f"nested {depth}"] += 1
    g.add(op, [trips, first] + carried, len(nexts) + len(scans),
          rounds_of(scope), body=body)


@row("Loop", since=13, weight=2)
def bags(g, op):
    """Rows between offsets, pooled one bag a trip, as torch's exporter writes EmbeddingBag."""
    table = g.pick(["f32"], lambda v: v.size > 0, 2, 2)
    pool = g.choice(("ReduceSum", "ReduceMean", "ReduceMax"))
    if pool == "ReduceSum":
        count = g.between(0, 6)
        positions = sorted(g.between(0, count) for _ in range(g.between(0, 4)))
        ids = g.put(g.numbers.integers(0, table.shape[0], count))
    else:  # of nothing they are undefined (open_results.py), so that no bag is empty
        count = g.between(1, 6)
        positions = sorted(g.random.sample(range(1, count), g.between(0, min(3, count - 1))))
        ids = g.put(g.numbers.integers(0, table.shape[0], count), "initializer")
    begin, end = g.put(np.array([0] + positions)), g.put(np.array(positions + [count]))
    trips = g.add("Size", [end])
    name = {n: g.fresh() + n for n in ("i", "k", "zero", "b", "e", "b1", "e1", "at", "rows",
                                       "row", "again")}
    takes_axes = pool == "ReduceSum" or g.opset >= 18
    steps = [("Gather", [begin.name, name["i"]], "b"), ("Gather", [end.name, name["i"]], "e"),
             ("Unsqueeze", [name["b"], name["zero"]], "b1"),
             ("Unsqueeze", [name["e"], name["zero"]], "e1"),
             ("Slice", [ids.name, name["b1"], name["e1"], name["zero"]], "at"),
             ("Gather", [table.name, name["at"]], "rows"),
             (pool, [name["rows"]] + [name["zero"]] * takes_axes, "row"),
             ("Identity", [name["k"]], "again")]
    pooled = {"keepdims": 0} if takes_axes else {"keepdims": 0, "axes": [0]}
    nodes = [helper.make_node(what, inputs, [name[made]], **(pooled if made == "row" else {}))
             for what, inputs, made in steps]
    body = helper.make_graph(nodes, "bag", [
        helper.make_tensor_value_info(name["i"], CODES["i64"], []),
        helper.make_tensor_value_info(name["k"], CODES["bool"], [])], [
        helper.make_tensor_value_info(name["again"], CODES["bool"], []),
        helper.make_tensor_value_info(name["row"], CODES["f32"], None)],
        [numpy_helper.from_array(np.array([0]), name["zero"])])
    g.tally["bags"] += 1
    g.add(op, [trips, None], 1, (2, 4), body=body)


@row("Scan", since=9, weight=5)
def scan(g, op):
    first = g.pick(fits=lambda v: v.size > 0, lowest=1, highest=4)
    axis = g.between(0, first.rank - 1) if g.chance(0.3) else 0
    length = first.shape[axis]
    backwards = g.between(0, 1) if g.chance(0.4) else 0
    scanned = [(first, axis, backwards)]
    other = g.find(fits=lambda v: v.shape[0] == length and v.size > 0, lowest=1, highest=4)
    if other and g.chance(0.5):
        scanned.append((other, 0, 0))
    carried = [g.pick(highest=3) for _ in range(g.between(0, 2))]
    depth = len(g.scopes)
    inside = [Value(g.fresh() + f"c{i}", v.variants) for i, v in enumerate(carried)]
    items = []
    for value, along, back in scanned:
        item = np.take(value.first, length - 1 if back else 0, along)
        items.append(Value(g.fresh() + f"s{len(items)}",
                           [np.asarray(item)] * (1 + VARIANTS)))
    scope = open_scope(g, inside + items)
    try:
        draw_nodes(g, g.between(1, 4))
        nexts = []
        for value in inside:
            found = [v for v in tensors_of(scope) if v.dtype == value.dtype and
                     v.shape == value.shape]
            nexts.append(g.add("Identity", [g.choice(found) if found else value]))
        made = tensors_of(scope)
        outs = [g.add("Identity", [g.choice(made)])
                for _ in range(g.between(0 if nexts else 1, 2))]
    except (Rejected, IndexError):
        drop_scopes(g, depth)
        raise Rejected("no body") from None
    g.close_scope()
    body = helper.make_graph(scope.nodes, "body", [info(v) for v in inside + items],
                             [info(v) for v in nexts + outs], scope.initializers)
    given = {"num_scan_inputs": len(items)}
    if any(a for _, a, _ in scanned) or g.chance(0.2):
        given["scan_input_axes"] = [a for _, a, _ in scanned]
    if any(b for _, _, b in scanned):
        given["scan_input_directions"] = [b for _, _, b in scanned]
    if outs and g.chance(0.3):
        given["scan_output_directions"] = [g.between(0, 1) for _ in outs]
    if outs and g.chance(0.2):
        given["scan_output_axes"] = [g.between(0, v.rank) for v in outs]
    g.tally[f"nested {depth}"] += 1
    g.add(op, carried + [v for v, _, _ in scanned], len(nexts) + len(outs),
          rounds_of(scope), body=body, **given)


@row("local", since=10, weight=4)
def local_function(g, op):
    """Draws a function, and calls it at once; later calls find it by chance."""
    inputs = [g.pick() for _ in range(g.between(1, 3))]
    depth = len(g.scopes)
    inside = [Value(f"p{i}", v.variants) for i, v in enumerate(inputs)]
    scope = open_scope(g, inside, is_closed=True)
    try:
        draw_nodes(g, g.between(1, 5))
        made = tensors_of(scope)
        if not made:
            raise Rejected("an empty function")
        outputs = g.random.sample(made, min(len(made), g.between(1, 2)))
    except Rejected:
        drop_scopes(g, depth)
        raise
    g.close_scope()
    g.function_count += 1
    name = f"f{g.function_count}"
    opsets = [helper.make_opsetid("", g.opset), helper.make_opsetid("local", 1)]
    function = helper.make_function("local", name, [v.name for v in inside],
                                    [v.name for v in outputs], scope.nodes, opsets)
    g.functions.append(function)
    g.tally["local functions"] += 1
    try:
        g.add(name, inputs, len(outputs), rounds_of(scope), domain="local")
    except Rejected:
        g.functions.remove(function)
        raise
    if g.chance(0.4):
        others = [g.find([v.dtype], lambda o, v=v: o.shape == v.shape) or v
                  for v in inputs]
        g.add(name, others, len(outputs), rounds_of(scope), domain="local")


# ---- sequences ----


@row("SequenceConstruct", "SequenceEmpty", "SplitToSequence", since=11)
def sequence(g, op):
    if op == "SplitToSequence":
        x = g.pick([d for d in g.allowed(op)], lambda v: v.size > 0, lowest=1)
        axis = g.axis(x)
        given = {"axis": axis}
        inputs = [x]
        if g.chance(0.4):
            inputs.append(g.numbers_in(g.between(1, 3), shape=()))
        elif g.chance(0.5):
            given["keepdims"] = g.between(0, 1)
        made = g.add(op, inputs, **given)
    elif op == "SequenceEmpty":
        x = g.pick(["f32", "i64"])
        made = g.add(op, [], dtype=CODES[x.dtype])
        made = g.add("SequenceInsert", [made, x])
    else:
        x = g.pick(["f32", "i64", "f64", "bool"])
        others = [g.find([x.dtype], lambda v: v.shape == x.shape) or x
                  for _ in range(g.between(0, 2))]
        made = g.add(op, [x] + others)
    for _ in range(g.between(0, 2)):
        made = change_sequence(g, made)
    use_sequence(g, made)


def change_sequence(g, made):
    length = len(made.first)
    if g.chance(0.5) or length < 2:
        item = made.first[0]
        value = g.find([dtype_of(item)], lambda v: v.shape == item.shape)
        value = value or g.make(dtype_of(item), item.shape)
        position = [g.numbers_in(g.between(-length, length), shape=())] if (
            g.chance(0.6)) else []
        return g.add("SequenceInsert", [made, value] + position)
    position = [g.numbers_in(g.between(-length, length - 1), shape=())] if (
        g.chance(0.6)) else []
    return g.add("SequenceErase", [made] + position)


def use_sequence(g, made):
    length = len(made.first)
    kind = g.choice(("at", "length", "concat", "concat"))
    if kind == "at":
        position = g.between(-length, length - 1)
        g.add("SequenceAt", [made, g.numbers_in(position, shape=())])
    elif kind == "length":
        g.add("SequenceLength", [made])
    else:
        new = g.between(0, 1)
        rank = made.first[0].ndim + new
        if rank == 0:
            raise Rejected("no axis")
        g.add("ConcatFromSequence", [made], axis=g.between(-rank, rank - 1), new_axis=new)
