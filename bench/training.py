#!/usr/bin/env python3
"""Compares a step of training a DLRM, or its embedding bags alone, with torch and FBGEMM.

SPDX-License-Identifier: Apache-2.0

    training.py --case bags --lengths 1,20             # look-ups, their gradients, the update
    training.py --case backward --lengths 1,20         # the same less the look-ups: a step less
                                                       # what its forward part takes alone
    training.py --case dlrm --lengths 1,20             # with both MLPs and the interaction
    training.py --case bags --optimizer sgd,adagrad
    training.py --case bags --check                    # weights after three steps, no times

26 tables of 100,000 x 64 f32 and a batch of 2,048, as the seeds' models have them; `bags`
takes the gradients of the pooled rows as inputs; ours also writes the sum of their products,
which is the loss, in its forward part.  The peer is FBGEMM's table-batched bags
with the optimizer in their backward, with its vector kernels active (as shipped its CPU
package runs scalar code: --shipped), and torch for the dense part, eager and compiled.
Dense weights change by SGD in both.  All engines read the same ids, which are rotated.
Method: measure.py.
"""

import argparse
import ctypes
import dataclasses
import os
import pathlib

import numpy as np

import measure
from ingot_runtime import BUILD, Binding, IngotError, Program
from models import cache_folder

TABLES, DIM, DENSE = 26, 64, 13
BOTTOM, TOP = (512, 256, DIM), (512, 256, 1)
RATE, EPSILON = 0.02, 1e-4
SETS, CHECKED_STEPS = 4, 3
CLOSE = 1e-5  # of tables
FLIPS = 4  # samples a step at which a ReLU is so near 0 that roundings decide its side
RULES = {
    "sgd": "sgd(lr={rate})",
    "adagrad": "adagrad(lr={rate},eps={epsilon})",
    "rowwise_adagrad": "rowwise_adagrad(lr={rate},eps={epsilon})",
}
STATES = {"sgd": 0, "adagrad": DIM, "rowwise_adagrad": 1}  # numbers a row


@dataclasses.dataclass(frozen=True)
class Task:
    """One step: what is trained, on how much."""

    case: str
    rule: str
    length: int
    batch: int
    rows: int

    @property
    def name(self):
        return f"{self.case} {self.rule} {self.length} ids"

    @property
    def has_bags_alone(self):
        return self.case in ("bags", "backward")

    def draw_inputs(self):
        rng = np.random.default_rng(3)
        shape = self.batch, self.length
        return [{"ids": [rng.integers(0, self.rows, shape) for _ in range(TABLES)],
                 "dense": rng.standard_normal((self.batch, DENSE), "f4"),
                 "label": rng.integers(0, 2, (self.batch, 1)).astype("f4"),
                 "gradient": rng.standard_normal((self.batch, TABLES * DIM), "f4")}
                for _ in range(SETS)]

    def draw_table(self, index):
        rng = np.random.default_rng(100 + index)
        return rng.standard_normal((self.rows, DIM), "f4") * np.float32(0.1)


def layer_shapes():
    """[(name, rows, columns)] of the dense weights, in order."""
    pairs = TABLES * (TABLES + 1) // 2
    shapes, width = [], DENSE
    for i, columns in enumerate(BOTTOM):
        shapes.append((f"b{i}", width, columns))
        width = columns
    width = DIM + pairs
    for i, columns in enumerate(TOP):
        shapes.append((f"u{i}", width, columns))
        width = columns
    return shapes


def draw_layer(index, rows, columns):
    rng = np.random.default_rng(1000 + index)
    return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype("f4")


# ---- ours ----


def dense_lines(stack):
    """IR of the dense part over the stacked rows [B, 27, 64], from %stack on."""
    lines, at = [], 0

    def emit(line):
        nonlocal at
        at += 1
        lines.append(f"    %v{at} = {line}")
        return f"%v{at}"

    def run_layers(prefix, count, x, last_relu):
        for i, (name, _, columns) in enumerate(s for s in layer_shapes() if s[0][0] == prefix):
            x = emit(f"matmul {x}, @{name} : f32[B, {columns}]")
            x = emit(f"add {x}, @{name}.bias : f32[B, {columns}]")
            if i + 1 < count or last_relu:
                x = emit(f"relu {x} : f32[B, {columns}]")
        return x

    features = TABLES + 1
    bottom = run_layers("b", len(BOTTOM), "%dense", True)
    first = emit(f"reshape {bottom} {{to = [B, 1, {DIM}]}} : f32[B, 1, {DIM}]")
    all_rows = emit(f"concat {first}, {stack} {{axis = 1}} : f32[B, {features}, {DIM}]")
    pairs = [i * features + j for i in range(features) for j in range(i)]
    dots = emit(f"interact {all_rows} {{pairs = {pairs}}} : f32[B, {len(pairs)}]")
    width = DIM + len(pairs)
    joined = emit(f"concat {bottom}, {dots} {{axis = 1}} : f32[B, {width}]")
    return lines, run_layers("u", len(TOP), joined, False)


def write_model(task, is_forward=False):
    """The path of a module whose loss is the sum of 'y', or of a DLRM with logits 'y'.

    Its forward part alone has the tables as inputs."""
    weights = [] if is_forward else [
        f"  weight @t{i} : f32[{task.rows}, {DIM}] = splat(0)" for i in range(TABLES)]
    sign = "%" if is_forward else "@"
    ins = [f"%t{i}: f32[{task.rows}, {DIM}]" for i in range(TABLES if is_forward else 0)]
    ins += [f"%ids{i}: i64[B, {task.length}]" for i in range(TABLES)]
    pooled = ", ".join(f"%p{i}" for i in range(TABLES))
    operands = ", ".join(f"{sign}t{i}, %ids{i}" for i in range(TABLES))
    many = ", ".join
    bag = (f"    {pooled} = bag {operands} {{operands = [{many(['0'] * TABLES)}], "
           f"pool = [{many(['sum'] * TABLES)}], negative = error}} : "
           + many([f"f32[B, {DIM}]"] * TABLES))
    width = TABLES * DIM
    lines = [bag, f"    %all = concat {pooled} {{axis = 1}} : f32[B, {width}]"]
    if task.has_bags_alone:
        ins.append(f"%gradient: f32[B, {width}]")
        lines.append(f"    %y = mul %all, %gradient : f32[B, {width}]")
        result, shape = "%y", width
    else:
        ins.append(f"%dense: f32[B, {DENSE}]")
        for name, rows, columns in layer_shapes():
            weights.append(f"  weight @{name} : f32[{rows}, {columns}] = splat(0)")
            weights.append(f"  weight @{name}.bias : f32[{columns}] = splat(0)")
        lines.append(f"    %stack = reshape %all {{to = [B, {TABLES}, {DIM}]}}"
                     f" : f32[B, {TABLES}, {DIM}]")
        more, result = dense_lines("%stack")
        lines, shape = lines + more, 1
    folder = cache_folder() / "training"
    folder.mkdir(parents=True, exist_ok=True)
    part = "forward-" if is_forward else ""
    path = folder / f"{part}{task.case}-{task.length}-{task.rows}.ig"
    text = ["module @step {", *weights, f"  graph @main({', '.join(ins)}) -> "
            f"(f32[B, {shape}] \"y\") {{", *lines, f"    ret {result}", "  }", "}", ""]
    path.write_text("\n".join(text))
    return path


class TrainOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("loss", ctypes.c_char_p),
        ("optimizers", ctypes.POINTER(ctypes.c_char_p)),
        ("optimizer_count", ctypes.c_size_t),
        ("clip_norm", ctypes.c_double),
    ]


def compile_step(task, is_forward=False):
    """The path of the artifact of the step, or of its forward part, and the names of its
    inputs and outputs."""
    lib = ctypes.CDLL(str(BUILD / "libingot.so"))
    pointer = ctypes.c_void_p
    for name in ("ig_context_create", "ig_context_messages", "ig_module_input_name",
                 "ig_module_output_name"):
        getattr(lib, name).restype = pointer
    lib.ig_module_input_count.restype = lib.ig_module_output_count.restype = ctypes.c_size_t
    context = pointer(lib.ig_context_create(None))

    def check(status):
        if status != 0:
            raise IngotError(ctypes.string_at(lib.ig_context_messages(context)).decode())

    def names(kind):
        count = getattr(lib, f"ig_module_{kind}_count")(module)
        read = getattr(lib, f"ig_module_{kind}_name")
        return [ctypes.string_at(read(module, ctypes.c_size_t(i))).decode()
                for i in range(count)]

    module, source = pointer(), write_model(task, is_forward)
    artifact = source.with_name(f"{source.stem}-{task.rule}.ingot")
    rule = RULES[task.rule].format(rate=RATE, epsilon=EPSILON)
    words = [f"t*={rule}".encode(), f"*=sgd(lr={RATE})".encode()]
    words = words[: 1 if task.has_bags_alone else 2]
    loss = b"sum:y" if task.has_bags_alone else b"bce_logits:y=label"
    options = TrainOptions(ctypes.sizeof(TrainOptions), loss,
                           (ctypes.c_char_p * len(words))(*words), len(words), 0)
    check(lib.ig_import(context, os.fsencode(source), None, ctypes.byref(module)))
    if not is_forward:
        check(lib.ig_module_train(module, ctypes.byref(options), None))
    facts = names("input"), names("output")
    check(lib.ig_compile_file(module, os.fsencode(artifact), None))
    lib.ig_module_close(module)
    lib.ig_context_destroy(context)
    return artifact, *facts


class IngotEngine:
    name = "ingot"

    def __init__(self, task, threads, is_forward=False):
        artifact, self.inputs, self.outputs = compile_step(task, is_forward)
        self.task, self.program = task, Program(artifact)
        self.session = self.program.session(threads)
        self.values = {name: value for name, value in self.make_weights()}
        groups = 1 if task.has_bags_alone else 2
        self.values.update(step=np.array(1, "i8"), rates=np.full(groups, RATE),
                           decays=np.zeros(groups))

    def make_weights(self):
        for i in range(TABLES):
            yield f"t{i}", self.task.draw_table(i)
            numbers = STATES[self.task.rule]
            yield f"t{i}.momentum1", np.zeros((self.task.rows, numbers), "f4")
        for i, (name, rows, columns) in enumerate(layer_shapes()):
            yield name, draw_layer(i, rows, columns)
            yield f"{name}.bias", np.zeros(columns, "f4")

    def prepare(self, sets):
        width = TABLES * DIM if self.task.has_bags_alone else 1
        fresh = {"loss": np.zeros((), "f4"), "y": np.zeros((self.task.batch, width), "f4")}
        self.bindings = []
        for one in sets:
            own = {f"ids{i}": ids for i, ids in enumerate(one["ids"])}
            known = {**self.values, **one, **own}
            results = [fresh[n] if n in fresh else self.values[n] for n in self.outputs]
            binding = Binding([known[n] for n in self.inputs], results)
            if "step" in self.inputs:
                binding.inputs[self.inputs.index("step")].rank = 0  # numpy made it a list
            self.bindings.append(binding)

    def run(self, index):
        self.session.run(self.bindings[index])

    def table(self, index):
        return self.values[f"t{index}"]

    def close(self):
        self.session.close()
        self.program.close()


# ---- torch and FBGEMM ----


def load_fbgemm(is_shipped):
    """FBGEMM with the kernels that its CPU package holds, or as it ships."""
    import torch

    if not is_shipped:
        lib = os.path.join(os.path.dirname(torch.__file__), "lib")
        table, facts = ctypes.c_uint8 * 96, []
        for name in ("libc10.so", "libtorch.so"):
            loaded = ctypes.CDLL(os.path.join(lib, name))
            facts.append(table.in_dll(loaded, "cpuinfo_isa"))
        loaded.cpuinfo_initialize()
        facts.sort(key=sum)
        ctypes.memmove(facts[0], facts[1], 96)
    import fbgemm_gpu  # noqa: F401


class TorchEngine:
    def __init__(self, task, is_compiled):
        import torch
        from fbgemm_gpu.split_embedding_configs import EmbOptimType
        from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation
        from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
            ComputeDevice, SplitTableBatchedEmbeddingBagsCodegen)

        self.name = "torch-compiled" if is_compiled else "torch"
        kinds = {"sgd": EmbOptimType.EXACT_SGD, "adagrad": EmbOptimType.EXACT_ADAGRAD,
                 "rowwise_adagrad": EmbOptimType.EXACT_ROWWISE_ADAGRAD}
        specs = [(task.rows, DIM, EmbeddingLocation.HOST, ComputeDevice.CPU)] * TABLES
        self.torch, self.task = torch, task
        self.bags = SplitTableBatchedEmbeddingBagsCodegen(
            specs, optimizer=kinds[task.rule], learning_rate=RATE, eps=EPSILON)
        for i, weight in enumerate(self.bags.split_embedding_weights()):
            weight.copy_(torch.from_numpy(task.draw_table(i)))
        self.step = self.step_of_bags if task.has_bags_alone else self.step_of_all
        if not task.has_bags_alone:
            self.make_dense()
            self.dense = torch.compile(self.run_dense) if is_compiled else self.run_dense

    def make_dense(self):
        torch = self.torch
        self.layers = {}
        for i, (name, rows, columns) in enumerate(layer_shapes()):
            layer = torch.nn.Linear(rows, columns)
            with torch.no_grad():
                layer.weight.copy_(torch.from_numpy(draw_layer(i, rows, columns).T))
                layer.bias.zero_()
            self.layers[name] = layer
        parameters = [p for layer in self.layers.values() for p in layer.parameters()]
        self.optimizer = torch.optim.SGD(parameters, lr=RATE)
        features = TABLES + 1
        self.pairs = torch.tensor([i * features + j for i in range(features)
                                   for j in range(i)])

    def run_dense(self, dense, pooled, label):
        torch, x = self.torch, dense
        for i in range(len(BOTTOM)):
            x = torch.relu(self.layers[f"b{i}"](x))
        rows = torch.cat([x[:, None], pooled.view(-1, TABLES, DIM)], 1)
        dots = torch.bmm(rows, rows.transpose(1, 2)).flatten(1)[:, self.pairs]
        x = torch.cat([x, dots], 1)
        for i in range(len(TOP)):
            x = self.layers[f"u{i}"](x)
            x = torch.relu(x) if i + 1 < len(TOP) else x
        return torch.nn.functional.binary_cross_entropy_with_logits(x, label)

    def prepare(self, sets):
        torch, length = self.torch, self.task.length
        offsets = torch.arange(0, TABLES * self.task.batch * length + 1, length)
        self.sets = [{"ids": torch.from_numpy(np.concatenate([i.ravel() for i in s["ids"]])),
                      "offsets": offsets,
                      **{n: torch.from_numpy(s[n]) for n in ("dense", "label", "gradient")}}
                     for s in sets]

    def look_up(self, s):
        self.bags(s["ids"], s["offsets"])

    def step_of_bags(self, s):
        self.bags(s["ids"], s["offsets"]).backward(s["gradient"])

    def step_of_all(self, s):
        pooled = self.bags(s["ids"], s["offsets"])
        self.optimizer.zero_grad(set_to_none=True)
        self.dense(s["dense"], pooled, s["label"]).backward()
        self.optimizer.step()

    def run(self, index):
        self.step(self.sets[index])

    def table(self, index):
        return self.bags.split_embedding_weights()[index].detach().numpy()

    def close(self):
        self.bags = None


# ---- the command ----


class Backward:
    """An engine's step less its forward part."""

    def __init__(self, engine, forward, threads):
        self.name, self.engine, self.forward = engine.name, engine, forward
        self.clock = measure.clock_for(threads)
        self.task, self.table, self.close = engine.task, engine.table, engine.close

    def run(self, index):
        self.engine.run(index)

    def seconds(self, first, count, sets):
        begin = self.clock()
        for i in range(first, first + count):
            self.forward(i % sets)
        middle = self.clock()
        for i in range(first, first + count):
            self.engine.run(i % sets)
        return (self.clock() - middle - (middle - begin)) / count


def make_engines(task, options):
    peers = [TorchEngine(task, False)]
    if not task.has_bags_alone:
        peers.append(TorchEngine(task, True))
    engines, sets = [IngotEngine(task, options.threads), *peers], task.draw_inputs()
    for engine in engines:
        engine.prepare(sets)
    if task.case == "backward":
        ours, peer = engines
        forward = IngotEngine(task, options.threads, is_forward=True)
        forward.values = ours.values  # the same tables
        forward.prepare(sets)
        engines = [Backward(ours, forward.run, options.threads),
                   Backward(peer, lambda i: peer.look_up(peer.sets[i]), options.threads)]
    return engines


def find_flips(far, sets):
    """Samples all of whose rows, in all tables, are far off: (set, sample)."""
    found = []
    for index, inputs in enumerate(sets):
        off = np.ones(len(inputs["ids"][0]), bool)
        for rows, ids in zip(far, inputs["ids"]):
            off &= rows[ids].all(axis=1)
        found += [(index, sample) for sample in np.flatnonzero(off)]
    return found


def check(engines):
    """Steps of all engines over the same sets give the same tables.

    Of a DLRM but for few samples: where a unit of a layer is within roundings of 0, one
    engine has the gradient of that sample go through its ReLU, and the other not.  Then
    all rows of the sample differ, and no others: one in about 3 million units is so near.
    """
    for index in range(CHECKED_STEPS):
        for engine in engines:
            engine.run(index)
    ours, peer = engines[:2]
    far, worst = [], 0
    for i in range(TABLES):
        off = np.abs(ours.table(i) - peer.table(i)).max(axis=1)
        far.append(off > CLOSE)
        worst = max(worst, off.max())
    sets = ours.task.draw_inputs()[:CHECKED_STEPS]
    flips = find_flips(far, sets) if ours.task.case == "dlrm" else []
    for index, sample in flips:
        for rows, ids in zip(far, sets[index]["ids"]):
            rows[ids[sample]] = False
    left = sum(rows.sum() for rows in far)
    print(f"{ours.task.name}: tables differ by {worst:.2g}, at {len(flips)} samples; "
          f"{left} rows by more than {CLOSE} without one")
    return left == 0 and len(flips) <= FLIPS * CHECKED_STEPS


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--case", choices=("bags", "backward", "dlrm"), default="bags")
    parser.add_argument("--optimizer", default="rowwise_adagrad", help=", ".join(RULES))
    parser.add_argument("--lengths", default="1,20", help="ids a bag")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=measure.ROUNDS)
    parser.add_argument("--shipped", action="store_true", help="FBGEMM as packaged")
    parser.add_argument("--check", action="store_true", help="compare weights, no times")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = read_options()
    load_fbgemm(options.shipped)
    import torch

    torch.set_num_threads(options.threads)
    points, is_good = [], True
    for rule in options.optimizer.split(","):
        for length in map(int, options.lengths.split(",")):
            task = Task(options.case, rule, length, options.batch, options.rows)
            engines = make_engines(task, options)
            if options.check:
                is_good &= check(engines)
                continue
            point = measure.run_point(task.name, engines, SETS, options)
            measure.show(point)
            points.append(point)
    measure.write_report(options, points)
    return 0 if is_good else 1


if __name__ == "__main__":
    raise SystemExit(main())
