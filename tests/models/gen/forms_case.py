"""What a recognition case is: coordinates, tables, and which combinations exist.

SPDX-License-Identifier: Apache-2.0

The space is exporter form x opset x pooling x {weighted, padding id, last offset
included, 2-D ids} x table set x style. ILLEGAL says which points no exporter can write,
and why; everything else is generated.
"""

import collections
import dataclasses
import itertools

Bag = collections.namedtuple(
    "Bag", "number table ids starts weights rows dim table_dim", defaults=[None]
)

# {name: ([(rows, dim) of each table], [table of each bag])}
TABLE_SETS = {
    "pair": ([(11, 8), (17, 8)], [0, 1]),
    "twice": ([(11, 8), (17, 8)], [0, 1, 0]),
    "dims": ([(11, 8), (17, 4), (5, 21)], [0, 1, 2]),
    "mixed": ([(11, 16), (17, 3)], [0, 1, 0]),
}
PADDING_ID = 1
STATIC_BAGS = 4


@dataclasses.dataclass(frozen=True)
class Case:
    form: str
    opset: int
    mode: str
    weighted: bool
    padding: bool
    last: bool
    two_d: bool
    tables: str
    style: frozenset

    @property
    def name(self):
        flags = [
            f for f in ("weighted", "padding", "last", "two_d") if getattr(self, f)
        ]
        parts = [self.form, str(self.opset), self.mode] + flags + [self.tables]
        return "-".join(parts + sorted(self.style))

    @property
    def padding_id(self):
        return PADDING_ID

    @property
    def static_bags(self):
        return 1 if "one_bag" in self.style else STATIC_BAGS

    @property
    def has_offsets(self):
        return self.form in ("legacy", "unrolled", "dynamo") and not self.two_d

    @property
    def is_static(self):
        return "static" in self.style


# Opsets where a form's graph changes, and the styles that its exporters leave behind.
FORMS = {
    "legacy": {
        "opsets": range(11, 21),
        "changes": (11, 13, 18),
        "styles": ("cast", "starts", "static", "int32"),
    },
    "unrolled": {"opsets": (10,), "changes": (10,), "styles": ("length", "one_bag")},
    "dynamo": {
        "opsets": range(18, 24),
        "changes": (18,),
        "styles": (
            "unoptimised",
            "function",
            "plain",
            "counter_first",
            "own_sequence",
            "trip",
            "static",
        ),
    },
    "fixed": {
        "opsets": range(7, 24),
        "changes": (7, 11, 13, 18),
        "styles": ("keepdims", "negative_axis", "static", "int32"),
    },
    "one_hot": {
        "opsets": range(7, 24),
        "changes": (7, 13),
        "styles": ("column", "squeeze", "static", "int32"),
    },
}

ILLEGAL = [
    (
        "nn.EmbeddingBag takes per_sample_weights only with mode sum",
        lambda c: c.weighted and c.mode != "sum" and c.form != "fixed",
    ),
    (
        "the legacy exporter refuses padding_idx",
        lambda c: c.padding and c.form in ("legacy", "unrolled"),
    ),
    (
        "2-D ids come without offsets, so there is no last one to include",
        lambda c: c.two_d and c.last and c.form in ("legacy", "unrolled", "dynamo"),
    ),
    (
        "2-D ids need Range, which exists from opset 11",
        lambda c: c.two_d and c.form == "unrolled",
    ),
    (
        "rows of one length have no offsets; nn.Embedding's padding_idx masks nothing",
        lambda c: c.form == "fixed" and (c.last or c.padding),
    ),
    ("ids of this form are 2-D always", lambda c: c.form == "fixed" and not c.two_d),
    (
        "one id a bag: nothing to average, to mask or to delimit",
        lambda c: c.form == "one_hot"
        and (c.mode != "sum" or c.last or c.padding or c.two_d),
    ),
    (
        "int32 offsets, no Concat: the exporter slices int32 bounds by int64 axes",
        lambda c: "int32" in c.style and c.last and c.form == "legacy",
    ),
    (
        "negative axes exist from opset 11",
        lambda c: "negative_axis" in c.style and c.opset < 11,
    ),
]
# Data that a legal graph cannot take, likewise with the reason:
#   no bags, dynamo:          ConcatFromSequence of an empty sequence is an error
#   2-D ids of length 0:      Range with step 0 is an error (legacy, dynamo; fixed may)
#   int32 ids, dynamo:        the exporter joins int32 offsets with an int64 length
#   ids after the last bag,   that graph divides the last bag's sum by len(ids) - start,
#     dynamo mean with last:  which is no mean when the last offset is not len(ids)


def why_illegal(case):
    """The first reason why no exporter writes this case, or None."""
    return next((reason for reason, applies in ILLEGAL if applies(case)), None)


def table_sets_and_styles(form, opset):
    """All table sets where the graph changes; styles there, on the richest set."""
    facts = FORMS[form]
    if opset not in facts["changes"]:
        return [("mixed", frozenset())]
    plain = [(tables, frozenset()) for tables in TABLE_SETS]
    return plain + [("mixed", frozenset([style])) for style in facts["styles"]]


def every_point():
    for form, facts in FORMS.items():
        for opset in facts["opsets"]:
            for tables, style in table_sets_and_styles(form, opset):
                for mode in ("sum", "mean", "max"):
                    for flags in itertools.product((False, True), repeat=4):
                        yield Case(form, opset, mode, *flags, tables, style)


def legal_cases():
    return [case for case in every_point() if why_illegal(case) is None]
