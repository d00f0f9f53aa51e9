"""Runs of a function, grouped by the graphs that they went through.

A run is one call.  It has a segment for each graph, and one for the Python before, between
and behind them.  Runs with the same graphs in the same order are one profile.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import dataclasses
import time

import torch


def difference(results, expected):
    """The largest |a - b| / max(1, |b|) of all elements; infinite where shapes, NaN or
    infinities differ."""
    largest = 0.0
    for a, b in zip(results, expected):
        if not isinstance(b, torch.Tensor):
            continue
        if a.shape != b.shape:
            return float("inf")
        a, b = a.detach().to(torch.float64), b.detach().to(torch.float64)
        same = (a == b) | (a.isnan() & b.isnan())
        off = torch.where(same, 0.0, (a - b).abs() / b.abs().clamp(min=1.0))
        off = torch.where(off.isnan(), float("inf"), off)
        largest = max(largest, float(off.max()) if off.numel() else 0.0)
    return largest


@dataclasses.dataclass
class LocalSegment:
    """Python between graphs."""

    times_ns: list

    number = None

    def add(self, other):
        self.times_ns += other.times_ns


@dataclasses.dataclass
class BackendSamples:
    times_ns: list
    failures: int = 0
    errors: dict = dataclasses.field(default_factory=dict)  # text: failures
    difference: float | None = None  # from eager, of the worst call
    memory_bytes: int = 0

    def add(self, other):
        self.times_ns += other.times_ns
        self.failures += other.failures
        for text, count in other.errors.items():
            self.errors[text] = self.errors.get(text, 0) + count
        known = [d for d in (self.difference, other.difference) if d is not None]
        self.difference = max(known, default=None)
        self.memory_bytes = max(self.memory_bytes, other.memory_bytes)


@dataclasses.dataclass
class GraphSegment:
    number: int
    samples: dict  # name of the backend: BackendSamples

    @staticmethod
    def of(number, outcomes, expected, repeats):
        """A call that failed counts as `repeats` failures."""
        samples = {}
        for spec, outcome in outcomes.items():
            one = BackendSamples(list(outcome.times_ns), memory_bytes=outcome.memory_bytes)
            if outcome.error:
                one.failures, one.errors = repeats, {outcome.error: repeats}
            else:
                one.difference = difference(outcome.results, expected)
            samples[str(spec)] = one
        return GraphSegment(number, samples)

    def add(self, other):
        for backend, samples in other.samples.items():
            self.samples[backend].add(samples)


@dataclasses.dataclass
class Group:
    """Runs through the same graphs."""

    segments: list
    runs: int
    was_compiled: bool  # a graph was compiled in its only run: no times of Python

    def add(self, segments):
        for mine, other in zip(self.segments, segments):
            mine.add(other)
        self.runs += 1

    def keep_memory(self, other):
        """Of the run in which graphs were loaded, which is discarded."""
        for mine, first in zip(self.segments, other.segments):
            if isinstance(mine, GraphSegment):
                for backend, samples in mine.samples.items():
                    samples.memory_bytes = max(samples.memory_bytes,
                                               first.samples[backend].memory_bytes)


class Recorder:
    """All runs of one function."""

    def __init__(self, name):
        self.name, self.groups, self.discarded = name, {}, 0
        self.graphs, self.reported = [], set()
        self._segments, self._begin, self.was_compiled = [], None, False

    @property
    def is_running(self):
        return self._begin is not None

    def begin(self):
        self._segments, self.was_compiled = [], False
        self._begin = time.perf_counter_ns()

    def _end_segment(self):
        now = time.perf_counter_ns()
        self._segments.append(LocalSegment([now - self._begin]))

    @contextlib.contextmanager
    def paused(self):
        """While a graph is measured."""
        self._end_segment()
        try:
            yield
        finally:
            self._begin = time.perf_counter_ns()

    def add(self, segment):
        self._segments.append(segment)

    def end(self):
        self._end_segment()
        self._begin = None
        key = tuple(s.number for s in self._segments)
        known = self.groups.get(key)
        if self.was_compiled:
            self.discarded += 1
            if known is None:
                self.groups[key] = Group(self._segments, 1, True)
        elif known is None or known.was_compiled:
            group = self.groups[key] = Group(self._segments, 1, False)
            if known is not None:
                group.keep_memory(known)
        else:
            known.add(self._segments)

    def abandon(self):
        """The function raised an exception."""
        self._begin = None
