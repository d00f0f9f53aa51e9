"""What was measured, as numbers, JSON and CSV.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import dataclasses
import io
import json
import math
import os
import pathlib
import statistics
import sys

MS_PER_HOUR = 3_600_000
REQUESTS = 1_000_000


def read_prices(prices):
    """{hardware: dollars an hour} of a dict, a path, INGOT_PRICES or the package's file."""
    if isinstance(prices, dict):
        return dict(prices)
    path = prices or os.environ.get("INGOT_PRICES") or \
        pathlib.Path(__file__).with_name("prices.json")
    with open(path, encoding="utf-8") as file:
        try:
            known = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if not isinstance(known, dict) or \
            not all(isinstance(p, (int, float)) for p in known.values()):
        raise ValueError(f'{path}: expected {{"hardware": dollars an hour}}')
    return known


def percentile(times, percent):
    """Between the two samples that are nearest to it."""
    ordered = sorted(times)
    position = (len(ordered) - 1) * percent / 100
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


@dataclasses.dataclass
class Times:
    """Milliseconds; None where nothing was measured."""

    samples: int
    mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None

    @staticmethod
    def of(times_ns):
        if not times_ns:
            return Times(0)
        return Times(len(times_ns), statistics.fmean(times_ns) / 1e6,
                     percentile(times_ns, 50) / 1e6, percentile(times_ns, 95) / 1e6)


@dataclasses.dataclass
class BackendResult:
    times: Times
    failures: int
    errors: dict            # text: failures
    max_difference: float   # |a - eager| / max(1, |eager|), or None
    memory_bytes: int       # by which loading and the first run let the process grow


@dataclasses.dataclass
class Segment:
    graph_id: int           # None: Python
    times: Times            # of Python, else None
    results: dict           # name of a backend: BackendResult


@dataclasses.dataclass
class Total:
    estimated_total_ms: float       # Python and graphs; None where a graph has no times
    cost_per_million: float         # dollars; None where there is no price
    errors: dict                    # number of a graph: {text: failures}


@dataclasses.dataclass
class Profile:
    """Runs that went through the same graphs."""

    function: str
    runs: int
    compilation_occurred: bool
    segments: list
    total_uncompiled_ms: float
    total_per_backend: dict

    @staticmethod
    def of(name, group, prices):
        segments = [_segment_of(s) for s in group.segments]
        local = sum(s.times.mean_ms for s in segments if s.graph_id is None)
        backends = next((list(s.results) for s in segments if s.results), [])
        totals = {b: _total_of(b, segments, local, prices, group.was_compiled)
                  for b in backends}
        return Profile(name, group.runs, group.was_compiled, segments, local, totals)


def _segment_of(segment):
    if segment.number is None:
        return Segment(None, Times.of(segment.times_ns), {})
    return Segment(segment.number, None, {
        backend: BackendResult(Times.of(s.times_ns), s.failures, dict(s.errors),
                               s.difference, s.memory_bytes)
        for backend, s in segment.samples.items()})


def _total_of(backend, segments, local, prices, was_compiled):
    results = {s.graph_id: s.results[backend] for s in segments if s.results}
    means = [r.times.mean_ms for r in results.values()]
    total = None if was_compiled or None in means else local + sum(
        s.results[backend].times.mean_ms for s in segments if s.results)
    price = prices.get(backend.partition("/")[0])
    cost = None if total is None or price is None else \
        REQUESTS * price * total / MS_PER_HOUR
    return Total(total, cost, {number: r.errors for number, r in results.items() if r.errors})


def _processor():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        names = [line.partition(":")[2].strip() for line in file
                 if line.startswith("model name")]
    return names[0] if names else ""


def _finite(value):
    """JSON has no infinities: "inf"."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclasses.dataclass
class Report:
    """What `handle.report()` gives.

    profiles: a list of Profile.  discarded_runs: those in which a graph was compiled.
    """

    profiles: list
    discarded_runs: int
    tolerance: float
    processor: str

    @staticmethod
    def of(context, prices, tolerance):
        recorders = context.recorders.values()
        profiles = [Profile.of(r.name, g, prices) for r in recorders
                    for g in r.groups.values()]
        return Report(profiles, sum(r.discarded for r in recorders), tolerance, _processor())

    @property
    def runtime_errors(self):
        """(function, backend, graph, text) of all that failed."""
        return list(dict.fromkeys(
            (p.function, backend, number, text) for p in self.profiles
            for backend, total in p.total_per_backend.items()
            for number, errors in total.errors.items() for text in errors))

    @property
    def differences(self):
        """(function, backend, graph, difference) beyond the tolerance."""
        return [(p.function, backend, s.graph_id, result.max_difference)
                for p in self.profiles for s in p.segments
                for backend, result in s.results.items()
                if result.max_difference is not None
                and not result.max_difference <= self.tolerance]

    def print(self, *, file=None, verbose=False):  # noqa: A003
        """The tables.  verbose: also medians, 95th percentiles, differences, memory."""
        from .table import write_report
        write_report(self, sys.stdout if file is None else file, verbose)

    def to_json(self):
        """Fields by their names; a difference that is infinite is "inf"."""
        return json.dumps(_finite(dataclasses.asdict(self)), indent=1, allow_nan=False)

    def to_csv(self):
        """A row for each segment and backend, and one for each total (segment "total")."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n").writerow
        write(["function", "profile", "segment", "graph", "backend", "samples", "mean_ms",
               "p50_ms", "p95_ms", "failures", "max_difference", "memory_bytes",
               "cost_per_million"])
        for position, profile in enumerate(self.profiles, 1):
            for row in _csv_rows(profile):
                write([profile.function, position, *row])
        return out.getvalue()

    def to_html(self):
        from .page import page_of
        return page_of(self)

    def save(self, path):
        """Writes .json, .csv or .html, as the name ends."""
        forms = {".json": self.to_json, ".csv": self.to_csv, ".html": self.to_html}
        path = pathlib.Path(path)
        if path.suffix not in forms:
            raise ValueError(f"{path}: a report is {', '.join(forms)}, not '{path.suffix}'")
        path.write_text(forms[path.suffix](), encoding="utf-8")

    def _repr_html_(self):
        return self.to_html()


def _times_row(times):
    return [times.samples, times.mean_ms, times.p50_ms, times.p95_ms]


def _csv_rows(profile):
    for position, segment in enumerate(profile.segments):
        if segment.graph_id is None:
            yield [position, "", "uncompiled", *_times_row(segment.times), 0, "", "", ""]
        for backend, r in segment.results.items():
            yield [position, segment.graph_id, backend, *_times_row(r.times), r.failures,
                   r.max_difference, r.memory_bytes, ""]
    for backend, total in profile.total_per_backend.items():
        failures = sum(sum(e.values()) for e in total.errors.values())
        yield ["total", "", backend, profile.runs, total.estimated_total_ms, "", "",
               failures, "", "", total.cost_per_million]
