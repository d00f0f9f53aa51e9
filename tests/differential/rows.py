"""The table of operators that random graphs are drawn from.

SPDX-License-Identifier: Apache-2.0
"""

import collections

Row = collections.namedtuple("Row", "draw since last weight")
ROWS = {}


def row(*operators, since=1, last=99, weight=1):
    """draw(graph, operator) adds one node of that operator, or a few around it."""
    def register(draw):
        for operator in operators:
            ROWS[operator] = ROWS.get(operator, []) + [Row(draw, since, last, weight)]
        return draw

    return register
