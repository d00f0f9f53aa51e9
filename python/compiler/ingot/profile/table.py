"""A report as text: the tables of octoml-profile 0.1.

SPDX-License-Identifier: Apache-2.0
"""
GAP = "  "
MEGABYTE = 1_000_000


def write_table(rows, sides, file):
    """Rows are tuples of text; a string is a rule of that character, "" an empty line."""
    widths = [max((len(r[i]) for r in rows if not isinstance(r, str) and i < len(r)),
                  default=0) for i in range(len(sides))]
    whole = sum(widths) + len(GAP) * (len(widths) - 1)
    for row in rows:
        if isinstance(row, str):
            print(row * whole if row else "", file=file)
            continue
        cells = [f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths)]
        print(GAP.join(cells).rstrip(), file=file)


def number(value, digits=3):
    return "N/A" if value is None else f"{value:.{digits}f}"


def _times(times, verbose):
    cells = (str(times.samples), number(times.mean_ms))
    return cells + ((number(times.p50_ms), number(times.p95_ms)) if verbose else ())


def _result_row(backend, result, verbose):
    row = ("", "  " + backend, *_times(result.times, verbose), str(result.failures))
    if verbose:
        off = result.max_difference
        row += ("N/A" if off is None else f"{off:.1e}",
                f"{result.memory_bytes / MEGABYTE:.1f}")
    return row


def _write_segments(profile, file, verbose):
    heads = ("", "Segment", "Runs", "Mean ms")
    heads += ("p50 ms", "p95 ms") if verbose else ()
    heads += ("Failures",) + (("Difference", "MB") if verbose else ())
    rows = [heads, "="]
    for index, segment in enumerate(profile.segments):
        if segment.graph_id is None:
            if not profile.compilation_occurred:
                rows.append((str(index), "Uncompiled", *_times(segment.times, verbose)))
            continue
        rows += ["", (str(index), f"Graph #{segment.graph_id}")]
        rows += [_result_row(b, r, verbose) for b, r in segment.results.items()]
        rows.append("")
    write_table(rows + ["-"], "><" + ">" * (len(heads) - 2), file)


def _write_totals(profile, file):
    if profile.compilation_occurred:
        print("Total times (compiled + uncompiled) are not available because graphs were\n"
              "compiled in every run: call the function more often.", file=file)
        return
    print(f"Total uncompiled code run time: {profile.total_uncompiled_ms:.3f} ms", file=file)
    if not profile.total_per_backend:
        return
    print("Total times (compiled + uncompiled) per backend, ms:", file=file)
    write_table([("  ", backend, number(total.estimated_total_ms))
                 for backend, total in profile.total_per_backend.items()], "<<>", file)
    costs = [("  ", backend, number(total.cost_per_million, 2))
             for backend, total in profile.total_per_backend.items()]
    if any(total.cost_per_million is not None for total in profile.total_per_backend.values()):
        print("Cost of a million requests, $:", file=file)
        write_table(costs, "<<>", file)


def _write_errors(profile, file):
    failed = {b: t.errors for b, t in profile.total_per_backend.items() if t.errors}
    if not failed:
        return
    print("Failures per backend:", file=file)
    for backend, errors in failed.items():
        print(f"    {backend}", file=file)
        for graph, texts in errors.items():
            for text, count in texts.items():
                words = text.replace("\n", "\n" + " " * 12)
                print(f"        Graph #{graph}, {count} times: {words}", file=file)


def write_report(report, file, verbose):
    print(f"Runs discarded because compilation occurred: {report.discarded_runs}", file=file)
    if not report.profiles:
        print("No accelerated function was called.", file=file)
    has_several = len({p.function for p in report.profiles}) > 1
    for index, profile in enumerate(report.profiles, 1):
        name = f" {profile.function}" if has_several else ""
        print(f"Profile {index}/{len(report.profiles)}{name}:", file=file)
        _write_segments(profile, file, verbose)
        _write_totals(profile, file)
        _write_errors(profile, file)
    for function, backend, graph, off in report.differences:
        print(f"{function}: graph #{graph} on {backend} differs from eager by {off:.1e}, "
              f"more than {report.tolerance:g}", file=file)
