"""What Program.profile and Program.verify give.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import html
import statistics


def _text_table(rows, sides):
    widths = [max(len(row[i]) for row in rows) for i in range(len(sides))]
    return "\n".join("  ".join(f"{cell:{side}{width}}" for cell, side, width in
                               zip(row, sides, widths)).rstrip() for row in rows)


def _html_table(rows):
    cells = ["".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in row)
             for kind, row in zip(["th"] + ["td"] * len(rows), rows)]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


@dataclasses.dataclass(frozen=True)
class Step:
    """A kernel, or what the runtime does between kernels.

    microseconds: the median of the runs, without the steps inside (of loops).
    flops: a multiply-add is two.  bytes: read and written in order.  lines: cache lines at
    random.  0 where that is not known.
    """

    name: str
    kind: str
    depth: int
    threads: int
    calls: int
    microseconds: float
    flops: float
    bytes: float
    lines: float


@dataclasses.dataclass(frozen=True)
class Profile:
    """steps: in their order.  microseconds: of a whole run, the median."""

    steps: list
    microseconds: float
    runs: int

    @staticmethod
    def of(measured):
        steps, whole = measured
        return Profile([Step(s["name"], s["kind"], s["depth"], s["threads"], s["calls"],
                             statistics.median(s["times_ns"]) / 1e3, s["flops"], s["bytes"],
                             s["lines"]) for s in steps],
                       statistics.median(whole) / 1e3, len(whole))

    def _rows(self):
        rows = [("step", "kind", "µs", "%", "GFLOP/s", "GB/s")]
        for s in self.steps:
            share = 100 * s.microseconds / self.microseconds if self.microseconds else 0
            rates = [f"{amount / s.microseconds / 1e3:.1f}" if amount and s.microseconds
                     else "" for amount in (s.flops, s.bytes)]
            rows.append(("  " * s.depth + s.name, s.kind, f"{s.microseconds:.2f}",
                         f"{share:.0f}", *rates))
        return rows + [("whole run", "", f"{self.microseconds:.2f}", "", "", "")]

    def __str__(self):
        return _text_table(self._rows(), "<<>>>>")

    def _repr_html_(self):
        return _html_table(self._rows())


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Of one output.  excess: the largest |got - wanted| - (atol + rtol |wanted|), good
    where 0 or less; infinite where type, extents, NaN or infinities differ."""

    name: str
    type: str
    max_difference: float
    excess: float

    @property
    def is_good(self):
        return self.excess <= 0


@dataclasses.dataclass(frozen=True)
class Verification:
    """True where all outputs are good."""

    outputs: list
    rtol: float
    atol: float

    def __bool__(self):
        return all(output.is_good for output in self.outputs)

    def _rows(self):
        return [("output", "type", "largest difference", "")] + [
            (o.name, o.type, f"{o.max_difference:.2e}", "good" if o.is_good else "WRONG")
            for o in self.outputs]

    def __str__(self):
        return _text_table(self._rows(), "<<><")

    def _repr_html_(self):
        return _html_table(self._rows())


def compare(port, got, wanted, rtol, atol):
    """Two values (values.py) of an output."""
    import numpy

    from .values import array_of
    name, kind = port[0], port[1]
    infinite = float("inf")
    if not isinstance(wanted, tuple) or got[:2] != wanted[:2]:
        return Comparison(name, kind, infinite, infinite)
    if got[2] == wanted[2]:
        return Comparison(name, kind, 0.0, 0.0)
    if got[0] == "str":
        return Comparison(name, kind, infinite, infinite)
    a, b = (array_of(v).astype("f8") for v in (got, wanted))
    is_float = got[0].lstrip("b").startswith("f")
    rtol, atol = (rtol, atol) if is_float else (0.0, 0.0)
    with numpy.errstate(invalid="ignore"):
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        off = numpy.where(same, 0.0, numpy.abs(a - b))
        off = numpy.where(numpy.isnan(off), infinite, off)
        # An infinity allows nothing but itself.
        allowed = numpy.where(numpy.isfinite(b), atol + rtol * numpy.abs(b), 0.0)
        excess = numpy.where(same, 0.0, off - allowed)
    return Comparison(name, kind, float(off.max()), float(excess.max()))
