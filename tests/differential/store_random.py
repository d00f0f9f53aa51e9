#!/usr/bin/env python3
"""Writes the stored sample of random graphs and programs: what CI runs without peers.

SPDX-License-Identifier: Apache-2.0

    store_random.py onnx|torch [--count N] [--seed S]

Takes those that Ingot gets right in every form, all of whose elements are judged, and that
draw an operator or statement which few before them drew, into cases/{onnx,torch}.tar.xz.
"""

import argparse
import collections
import json
import multiprocessing
import pathlib
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True

from binding import Context, Refused
from store import pack, write_case

HERE = pathlib.Path(__file__).resolve().parent
OFTEN = 3      # an operator is stored so many times
LARGEST = 6000  # bytes of a model
MAX_RTOL, MAX_ATOL = 1e-3, 1e-3


def tolerance_of(pairs):
    """(rtol, atol) that allow what every element may be off; None: too much."""
    rtol = atol = 0.0
    for want, (steady, allowed) in pairs:
        if not steady.all():
            return None
        if want.dtype.kind not in "iub" and allowed.size:
            size = np.abs(np.nan_to_num(want.astype(np.float64), posinf=0, neginf=0))
            rtol = max(rtol, float((allowed / np.maximum(size, 0.1)).max()))
            atol = max(atol, float(np.where(size < 0.1, allowed, 0).max()))
    return (rtol, atol) if rtol <= MAX_RTOL and atol <= MAX_ATOL else None


def is_new(seen, names):
    return any(seen[n] < OFTEN for n in names)


def take_onnx(seed, folder, seen):
    import onnx_judge
    import onnx_models
    drawn = onnx_models.draw_model(seed)
    rows = {n for n in drawn.graph.tally if n[0].isupper()}
    model = drawn.model
    inputs = [i.name for i in model.graph.input]
    weights = {t.name for t in model.graph.initializer}
    pairs = [p for s in drawn.sets for p in zip(s.wanted, s.masks)]
    allowed = tolerance_of(pairs)
    if allowed is None or weights & set(inputs) or not is_new(seen, rows) or (
            model.ByteSize() > LARGEST or any(any(s.levels) for s in drawn.sets) or
            onnx_judge.judge(drawn, forms=onnx_judge.FORMS)[0]):
        return ()
    for data in drawn.sets[1:]:  # each must also do with its extents fixed
        fixed = [f"{n}={onnx_judge.dtype_of(a)}[{','.join(map(str, a.shape))}]"
                 for n, a in data.inputs.items()]
        try:
            onnx_judge.run_form(Context(), model.SerializeToString(), "static", fixed,
                                [data.inputs])
        except Refused:
            return ()
    sets = [([s.inputs[n] for n in inputs], s.wanted) for s in drawn.sets]
    is_open = all(d.dim_param for i in model.graph.input
                  for d in i.type.tensor_type.shape.dim)
    name = f"{seed}" if is_open else f"fixed_{seed}"
    write_case(folder / name, model, sets, allowed)
    return rows


def take_torch(seed, folder, seen):
    import torch_judge
    import torch_models
    sys.path.insert(0, str(HERE.parent / "models" / "gen"))
    from values_json import write_set
    drawn = torch_models.draw_model(seed)
    if drawn.archive is None or drawn.form == "exported" or drawn.program.container != "tuple":
        return ()
    rows = set(drawn.program.tally)
    pairs = [p for c in drawn.calls for p in zip(c.wanted, c.masks)]
    if any(m is None for _, m in pairs) or not is_new(seen, rows):
        return ()
    allowed = tolerance_of(pairs)
    kinds = {a.dtype for c in drawn.calls for a in c.arguments if hasattr(a, "dtype")}
    narrow = "bfloat16" in str(kinds) or any("bfloat16" in str(w.dtype)
                                             for c in drawn.calls for w in c.wanted)
    if narrow or allowed is None or len(drawn.archive) > 12000 or torch_judge.judge(drawn)[0]:
        return ()
    case = folder / f"fixed_{seed}"
    case.mkdir(parents=True)
    (case / "model.pt").write_bytes(drawn.archive)
    text = {"name": case.name, "model": "model.pt",
            "tolerance": dict(zip(("rtol", "atol"), allowed))}
    if drawn.program.attributes:
        text["stateful"] = True
    (case / "case.json").write_text(json.dumps(text))
    for index, call in enumerate(drawn.calls):
        results = tuple(torch_models.as_results(drawn.program, call.wanted))
        write_set(case / f"test_data_set_{index}", call.arguments, results, "forward")
        tensors = [p for p, a in enumerate(call.arguments) if hasattr(a, "dtype")]
        for position, (after, _) in call.changed.items():
            if not np.array_equal(after, call.arguments[position].numpy(), equal_nan=True):
                path = case / f"test_data_set_{index}"
                np.save(path / f"after_input_{tensors.index(position)}.npy", after)
    return rows


def take_apart(take, seed, folder, seen):
    """The rows of the case that was written, or none.  In a process of its own: some
    graphs bring ONNX Runtime down."""
    def work():
        try:
            end.send(sorted(take(seed, folder, seen)))
        except Exception as error:
            end.send([] if type(error).__name__ in ("NoModel", "NoProgram")
                     else f"{seed}: {error!r}")

    begin, end = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=work)
    process.start()
    end.close()
    try:
        rows = begin.recv()
    except EOFError:
        rows = []
    process.join()
    if isinstance(rows, str):
        sys.exit(rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("onnx", "torch"))
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    multiprocessing.set_start_method("fork")
    take = {"onnx": take_onnx, "torch": take_torch}[options.what]
    seen, taken, seed = collections.Counter(), 0, options.seed
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        while taken < options.count and seed < options.seed + 12 * options.count:
            rows = take_apart(take, seed, folder, seen)
            seen.update(rows)
            taken += bool(rows)
            seed += 1
            if seed % 50 == 0:
                print(f"{seed}: {taken} taken", flush=True)
        size = pack(folder, HERE / "cases" / f"{options.what}.tar.xz")
    print(f"{taken} cases, {size} bytes, {len(seen)} kinds of rows")


if __name__ == "__main__":
    main()
