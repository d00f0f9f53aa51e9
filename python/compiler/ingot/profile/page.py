"""A report as a page of HTML: one file, a bar for each segment.

SPDX-License-Identifier: Apache-2.0
"""
import html

from .table import MEGABYTE, number

STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { padding: .15em .8em; text-align: right; }
td:first-child, th:first-child, td.name, th.name { text-align: left; }
tr.graph td { border-top: 1px solid #ddd; }
.bar { display: flex; width: 36em; height: 1.1em; background: #f2f2f2; }
.bar div { height: 100%; min-width: 1px; }
.local { background: #9aa5b1; } .graph0 { background: #3b7dd8; } .graph1 { background: #2a9d6f; }
.graph2 { background: #d0803b; } .graph3 { background: #8a5fc0; }
.wrong { color: #b00020; }
"""


def _cell(text, kind=""):
    return f'<td{kind and f" class={kind}"}>{html.escape(str(text))}</td>'


def _bar(profile, backend, longest):
    """The segments of a run, side by side."""
    parts = []
    for index, segment in enumerate(profile.segments):
        is_local = segment.graph_id is None
        times = segment.times if is_local else segment.results[backend].times
        if times.mean_ms is None or (is_local and profile.compilation_occurred):
            continue
        name = "Uncompiled" if is_local else f"Graph #{segment.graph_id}"
        color = "local" if is_local else f"graph{(segment.graph_id - 1) % 4}"
        parts.append(f'<div class="{color}" style="width:{100 * times.mean_ms / longest:.2f}%"'
                     f' title="{index} {name}: {times.mean_ms:.3f} ms"></div>')
    return f'<div class="bar">{"".join(parts)}</div>'


def _length(profile, backend):
    times = [s.times if s.graph_id is None else s.results[backend].times
             for s in profile.segments]
    return sum(t.mean_ms or 0 for t in times)


def _totals(profile):
    backends = list(profile.total_per_backend)
    longest = max((_length(profile, b) for b in backends), default=0) or 1
    rows = ["<tr><th class=name>Backend</th><th class=name>A run</th><th>Total ms</th>"
            "<th>$ for a million</th></tr>"]
    for backend in backends:
        total = profile.total_per_backend[backend]
        rows.append(f"<tr>{_cell(backend)}<td>{_bar(profile, backend, longest)}</td>"
                    f"{_cell(number(total.estimated_total_ms))}"
                    f"{_cell(number(total.cost_per_million, 2))}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _times_cells(times):
    return "".join(_cell(c) for c in (times.samples, number(times.mean_ms),
                                      number(times.p50_ms), number(times.p95_ms)))


def _result_cells(result, tolerance):
    off = result.max_difference
    is_wrong = off is not None and not off <= tolerance
    return (_times_cells(result.times)
            + _cell(result.failures, "wrong" if result.failures else "")
            + _cell("N/A" if off is None else f"{off:.1e}", "wrong" if is_wrong else "")
            + _cell(f"{result.memory_bytes / MEGABYTE:.1f}"))


def _segments(profile, tolerance):
    rows = ["<tr><th>Segment</th><th class=name>Backend</th><th>Runs</th><th>Mean ms</th>"
            "<th>p50 ms</th><th>p95 ms</th><th>Failures</th><th>Difference from eager</th>"
            "<th>MB</th></tr>"]
    for index, segment in enumerate(profile.segments):
        if segment.graph_id is None:
            if not profile.compilation_occurred:
                rows.append(f"<tr class=graph>{_cell(f'{index} Uncompiled')}<td></td>"
                            f"{_times_cells(segment.times)}<td></td><td></td><td></td></tr>")
            continue
        name = f"{index} Graph #{segment.graph_id}"
        for backend, result in segment.results.items():
            rows.append(f"<tr class=graph>{_cell(name)}{_cell(backend, 'name')}"
                        f"{_result_cells(result, tolerance)}</tr>")
            name = ""
    return f"<table>{''.join(rows)}</table>"


def page_of(report):
    parts = [f"<p>{html.escape(report.processor)}. Runs discarded because compilation "
             f"occurred: {report.discarded_runs}.</p>"]
    for index, profile in enumerate(report.profiles, 1):
        parts += [f"<h2>Profile {index}/{len(report.profiles)}: "
                  f"{html.escape(profile.function)}, {profile.runs} runs</h2>",
                  _totals(profile), _segments(profile, report.tolerance)]
    for function, backend, graph, text in report.runtime_errors:
        parts.append(f'<p class="wrong">{html.escape(function)}: graph #{graph} on '
                     f"{html.escape(backend)}: {html.escape(text)}</p>")
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f"<title>Profile</title><style>{STYLE}</style></head><body><h1>Profile</h1>"
            f"{''.join(parts)}</body></html>\n")
