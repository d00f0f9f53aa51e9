"""EmbeddingBag as torch.onnx.export(dynamo=True) writes it: a loop grows a sequence.

SPDX-License-Identifier: Apache-2.0

All rows are gathered and weighted first. A Loop then carries (sequence, counter): it
slices one bag's rows out, reduces them to [1, dim] (zeros for an empty bag), and
appends them; after it ConcatFromSequence joins them. With a padding id an inner Loop
first collects the positions that are kept. The styles follow what exporters of several
versions leave behind:

  (none)         optimised: literals are shared initialisers, constant Ifs are gone
  unoptimised    literals are Constant nodes, Ifs on mode and include_last_offset remain
  function       the same in a model-local function whose attributes the caller gives
  plain          no CastLike and no dead Identity
  counter_first  the carried values stand the other way round
  own_sequence   each table has a SequenceEmpty of its own
  trip           the trip count is INT64_MAX instead of absent
"""

import sys

import numpy as np

from forms_case import Bag
from onnx_graph import INT, FromCaller

INT64_MAX = sys.maxsize
MODES = ["sum", "mean", "max"]
DOMAIN = "pkg.onnxscript.torch_lib"
FUNCTIONS = {
    False: "_aten_embedding_bag_onnx",
    True: "_aten_embedding_bag_1d_padding_idx_onnx",
}


class DynamoWriter:
    """Writes the bags of one model; holds what they share."""

    def __init__(self, model, root, case):
        self.model, self.root, self.case = model, root, case
        self.raw = bool(case.style & {"unoptimised", "function"})
        self.shared = {}
        self.sequence = None  # shared by all tables
        self.batch = None

    # Literals, casts and branches.

    def number(self, g, value, dtype="int64"):
        if self.raw:
            return g.constant(value, dtype)
        key = (repr(value), dtype)
        if key not in self.shared:
            self.shared[key] = self.root.initializer(value, dtype)
        return self.shared[key]

    def like(self, g, value, other):
        literal = self.number(g, value)
        if "plain" in self.case.style:
            return literal
        return g.node("CastLike", [literal, other])

    def folded_like(self, g, value, other):
        """A CastLike that the optimiser sees through."""
        return self.like(g, value, other) if self.raw else self.number(g, value)

    def pass_on(self, g, value):
        """An Identity; the optimiser routes its uses around it and leaves it dead."""
        if "plain" in self.case.style:
            return value
        copy = g.node("Identity", [value])
        return copy if self.raw else value

    def select(self, g, test, yes, no, outputs=1):
        branches = []
        for name, write in (("thenGraph", yes), ("elseGraph", no)):
            branch = g.subgraph(name)
            results = write(branch)
            for result in [results] if outputs == 1 else results:
                branch.loose_output(result)
            branches.append(branch)
        return g.node(
            "If", [test], outputs, then_branch=branches[0], else_branch=branches[1]
        )

    def attribute(self, g, name):
        case = self.case
        if "function" in case.style:
            return g.node("Constant", [], value_int=FromCaller(name, INT))
        values = {
            "mode": MODES.index(case.mode),
            "include_last_offset": int(case.last),
            "padding_idx": case.padding_id,
        }
        return g.node("Constant", [], value_int=values[name])

    def when_mode(self, g, mode, yes, no):
        """An If on the bag's mode: the optimiser leaves only the branch taken."""
        if not self.raw:
            return (yes if self.case.mode == mode else no)(g)
        expected = g.constant(MODES.index(mode))
        return self.select(
            g, g.node("Equal", [self.attribute(g, "mode"), expected]), yes, no
        )

    def when_last(self, g, yes, no):
        """The same on include_last_offset; gives (offsets, number of bags)."""
        if not self.raw:
            return (yes if self.case.last else no)(g)
        given = g.node("Cast", [self.attribute(g, "include_last_offset")], to=9)
        test = g.node("Equal", [given, g.constant(True, "bool")])
        return self.select(g, test, yes, no, outputs=2)

    # Loops.

    def in_order(self, pair):
        return pair[::-1] if "counter_first" in self.case.style else pair

    def while_loop(self, g, go, carried, write_body):
        """Loop over two carried values; write_body gives (go on, [next values])."""
        body = g.subgraph("loop_body")
        body.input(body.fresh("infinite_loop"), "int64", [])
        body.input(body.fresh("cond"), "bool", [])
        inner = [body.loose_input("carried") for _ in carried]
        proceed, results = write_body(body, *self.in_order(inner))
        body.loose_output(proceed)
        for result in self.in_order(results):
            body.loose_output(result)
        trip = self.number(g, INT64_MAX) if "trip" in self.case.style else ""
        outputs = g.node("Loop", [trip, go] + self.in_order(carried), 2, body=body)
        return self.in_order(outputs)

    def next_step(self, g, counter, limit):
        following = g.node("Add", [counter, self.like(g, 1, counter)])
        proceed = g.node("Less", [following, limit])
        return (g.node("Identity", [proceed]) if self.raw else proceed), following

    def empty_sequence(self, g):
        if self.raw or "own_sequence" in self.case.style:
            return g.node("SequenceEmpty", [])
        if self.sequence is None:
            self.sequence = g.node("SequenceEmpty", [])
        return self.sequence

    def sequence_loop(self, g, count, write_row):
        """[bags, dim] from write_row(body, bag number) -> [1, dim]."""
        sequence, zero = self.empty_sequence(g), self.number(g, 0)

        def write_body(body, collected, counter):
            row = write_row(body, counter)
            collected = body.node("SequenceInsert", [collected, row])
            proceed, following = self.next_step(body, counter, count)
            return proceed, [collected, following]

        go = g.node("Less", [zero, count])
        collected, _ = self.while_loop(g, go, [sequence, zero], write_body)
        return g.node("ConcatFromSequence", [collected], axis=0)

    # The pieces of one bag.

    def zeros(self, g, bag):
        if not self.raw:
            return g.initializer(np.zeros((1, bag.dim)), "float32", hint="row_result")
        if self.case.padding:
            dim = g.node("Shape", [bag.table], start=1, end=2)
            one = g.node("CastLike", [g.constant([1]), dim])
        else:
            dim, one = bag.table_dim, g.constant([1])
        shape = g.node("Concat", [one, dim], axis=0)
        return g.node("Expand", [g.constant([0.0], "float32"), shape])

    def weighted_rows(self, g, bag, ids):
        rows = g.node("Gather", [bag.table, ids])
        rows = g.node(
            "Mul", [rows, g.node("Unsqueeze", [bag.weights, self.number(g, [1])])]
        )
        return g.node("Cast", [rows], to=1) if self.raw else self.pass_on(g, rows)

    def offsets_and_count(self, g, bag, end_of_ids):
        count = g.node("Size", [bag.starts])

        def with_last(h):
            less = h.node("Sub", [count, self.folded_like(h, 1, count)])
            if self.case.padding:
                last = self.number(h, [-1])
                return [h.node("ScatterElements", [bag.starts, last, end_of_ids]), less]
            return [self.pass_on(h, bag.starts), less]

        def without_last(h):
            offsets = h.node("Concat", [bag.starts, end_of_ids], axis=0)
            return [offsets, self.pass_on(h, count)]

        return self.when_last(g, with_last, without_last)

    def reduce_row(self, g, mode, rows):
        op = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax"}[mode]
        return g.node(op, [rows, self.number(g, [0])])

    # Without a padding id.

    def plain_bag(self, g, bag):
        flat = g.node("Reshape", [bag.ids, self.number(g, [-1])])
        rows = self.weighted_rows(g, bag, flat)
        if self.raw:
            dim = g.node("Shape", [bag.table], start=1)
            bag = bag._replace(table_dim=g.node("Reshape", [dim, self.number(g, [-1])]))
        size = g.node("Shape", [flat])
        offsets, count = self.offsets_and_count(g, bag, size)

        def write_row(body, counter):
            begin, end = self.bag_bounds(body, offsets, counter)

            def is_last(h):
                final = h.node("Sub", [count, self.folded_like(h, 1, count)])
                return h.node("Equal", [counter, final])

            return self.select(
                body,
                body.node("Equal", [begin, end]),
                lambda h: self.zeros(h, bag),
                lambda h: self.full_row(h, bag, (rows, begin, end, size), is_last),
            )

        return self.sequence_loop(g, count, write_row)

    def bag_bounds(self, g, offsets, counter):
        index = g.node("Reshape", [counter, self.number(g, [-1])])
        after = g.node("Add", [index, self.like(g, 1, index)])
        begin = g.node("Slice", [offsets, index, after])
        again = g.node("Add", [index, self.like(g, 1, index)])
        second = g.node("Add", [index, self.like(g, 2, index)])
        return begin, g.node("Slice", [offsets, again, second])

    def full_row(self, g, bag, span, is_last):
        rows, begin, end, size = span

        def summed(h):
            return self.reduce_row(h, "sum", h.node("Slice", [rows, begin, end]))

        def averaged(h):
            some = h.node("Slice", [rows, begin, end])
            return self.select(
                h,
                is_last(h),
                lambda k: self.last_mean(k, bag, (some, rows), begin),
                lambda k: self.reduce_row(k, "mean", some),
            )

        def greatest(h):
            some = self.select(
                h,
                is_last(h),
                lambda k: k.node("Slice", [rows, begin, size]),
                lambda k: k.node("Slice", [rows, begin, end]),
            )
            return self.reduce_row(h, "max", some)

        return self.when_mode(
            g, "sum", summed, lambda h: self.when_mode(h, "mean", averaged, greatest)
        )

    def last_mean(self, g, bag, rows_of, begin):
        """The exporter divides the last bag's sum by len(ids) - start."""
        of_bag, of_all = rows_of
        total = self.reduce_row(g, "sum", of_bag)
        size = g.node("Shape", [bag.ids], start=0, end=1)
        denominator = g.node("Sub", [size, begin])
        positive = g.node("Greater", [denominator, self.like(g, 0, denominator)])

        def divided(h):
            if self.raw:
                return h.node("Div", [total, h.node("CastLike", [denominator, of_all])])
            return h.node("Div", [total, h.node("Cast", [denominator], to=1)])

        return self.select(g, positive, divided, lambda h: h.node("Identity", [total]))

    # With a padding id.

    def padded_bag(self, g, bag):
        table_rows = self.table_rows(g, bag)
        padding = self.padding_id(g, table_rows)
        rows = self.weighted_rows(g, bag, bag.ids)
        size = g.node("Reshape", [g.node("Size", [bag.ids]), self.number(g, [-1])])
        offsets, count = self.offsets_and_count(g, bag, size)

        def write_row(body, counter):
            begin = body.node("Gather", [offsets, counter])
            after = body.node("Add", [counter, self.like(body, 1, counter)])
            end = body.node("Gather", [offsets, after])
            kept = self.kept_positions(body, bag, (begin, end), (table_rows, padding))
            kept_count = body.node("Size", [kept])
            none = body.node("Equal", [kept_count, self.like(body, 0, kept_count)])
            return self.select(
                body,
                none,
                lambda h: self.zeros(h, bag),
                lambda h: self.kept_row(h, rows, kept),
            )

        return self.sequence_loop(g, count, write_row)

    def table_rows(self, g, bag):
        if not self.raw:
            return self.number(g, bag.rows)
        return g.node("Squeeze", [g.node("Shape", [bag.table], start=0, end=1)])

    def padding_id(self, g, table_rows):
        if not self.raw:
            return self.number(g, self.case.padding_id)

        def from_end(h):
            given = self.attribute(h, "padding_idx")
            given = h.node("CastLike", [given, table_rows])
            return h.node("Add", [given, table_rows])

        negative = g.node("Less", [self.attribute(g, "padding_idx"), g.constant(0)])
        return self.select(
            g,
            negative,
            from_end,
            lambda h: h.node("Identity", [self.attribute(h, "padding_idx")]),
        )

    def kept_positions(self, g, bag, span, table):
        """The inner Loop: positions in [begin, end) whose id is not the padding id."""
        begin, end = span
        if self.raw:
            nothing = g.node("Shape", [bag.ids], start=0, end=0)
        else:
            nothing = self.number(g, [])

        def write_body(body, position, kept):
            keep = body.node("Not", [self.is_padding(body, bag, position, table)])

            def with_position(h):
                here = h.node("Reshape", [position, self.number(h, [-1])])
                return h.node("Concat", [kept, here], axis=0)

            kept_now = self.select(
                body, keep, with_position, lambda h: h.node("Identity", [kept])
            )
            proceed, following = self.next_step(body, position, end)
            return proceed, [following, kept_now]

        go = g.node("Less", [begin, end])
        return self.while_loop(g, go, [begin, nothing], write_body)[1]

    def is_padding(self, g, bag, position, table):
        table_rows, padding = table
        index = g.node("Gather", [bag.ids, position])
        negative = g.node("Less", [index, self.like(g, 0, index)])
        index = self.select(
            g,
            negative,
            lambda h: h.node("Add", [index, table_rows]),
            lambda h: h.node("Identity", [index]),
        )
        return g.node("Equal", [index, padding])

    def kept_row(self, g, rows, kept):
        chosen = g.node("Gather", [rows, kept])
        return self.when_mode(
            g,
            "sum",
            lambda h: self.reduce_row(h, "sum", chosen),
            lambda h: self.when_mode(
                h,
                "mean",
                lambda k: self.reduce_row(k, "mean", chosen),
                lambda k: self.reduce_row(k, "max", chosen),
            ),
        )

    # The bag as a whole.

    def write(self, g, bag):
        if self.case.two_d:
            bag = self.flatten_2d(g, bag)
        if bag.weights is None:
            bag = bag._replace(weights=self.ones(g, bag))
        if "function" in self.case.style:
            pooled = self.call_function(g, bag)
        else:
            pooled = self.body(g, bag)
        if self.raw:
            return g.node("CastLike", [pooled, bag.table])
        return g.node("Cast", [pooled], to=1)

    def body(self, g, bag):
        return (self.padded_bag if self.case.padding else self.plain_bag)(g, bag)

    def ones(self, g, bag):
        one = self.number(g, [1.0], "float32")
        ones = g.node("Expand", [one, g.node("Shape", [bag.ids], start=0)])
        return g.node("CastLike", [ones, bag.table]) if self.raw else ones

    def extent(self, g, value, axis):
        return g.node("Squeeze", [g.node("Shape", [value], start=axis, end=axis + 1)])

    def flatten_2d(self, g, bag):
        """The batch is asked of the first bag's ids, for all bags."""
        self.batch = self.batch or self.extent(g, bag.ids, 0)
        length = self.extent(g, bag.ids, 1)
        limit = g.node("Mul", [self.batch, length])
        starts = g.node("Range", [self.number(g, 0), limit, length])
        flat = g.node("Reshape", [bag.ids, self.number(g, [-1])], allowzero=1)
        weights = bag.weights and g.node(
            "Reshape", [bag.weights, self.number(g, [-1])], allowzero=1
        )
        return bag._replace(ids=flat, starts=starts, weights=weights)

    def call_function(self, g, bag):
        case = self.case
        attributes = {
            "mode": MODES.index(case.mode),
            "include_last_offset": int(case.last),
        }
        if case.padding:
            attributes["padding_idx"] = case.padding_id
        name = FUNCTIONS[case.padding]
        if not self.model.functions:
            self.define_function(name, sorted(attributes))
        inputs = [bag.table, bag.ids, bag.starts, bag.weights]
        return g.node(name, inputs, domain=DOMAIN, **attributes)

    def define_function(self, name, attributes):
        function = self.model.functions.add(name=name, domain=DOMAIN)
        function.opset_import.add(domain="", version=self.root.opset)
        self.model.opset_import.add(domain=DOMAIN, version=1)
        function.attribute.extend(attributes)
        formal = {
            "table": "weight",
            "ids": "indices",
            "starts": "offsets",
            "weights": "per_sample_weights",
        }
        function.input.extend(formal.values())
        inner = self.root.subgraph(name)
        function.output.append(self.body(inner, Bag(number=0, rows=0, dim=0, **formal)))
        function.node.extend(inner.graph.node)
