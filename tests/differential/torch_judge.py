"""A drawn torch program through Ingot: interpreted and compiled, or by torch.compile.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import dataclasses
import io

import numpy as np
import torch

from chain import find_difference
from binding import Context, Refused
from torch_models import list_of, numbers_of, run_calls

(TENSOR, INT, FLOAT, BOOL, STR, NONE, LIST, TUPLE, DICT, RECORD, OPTIONAL) = range(11)


def read_node(nodes, index, outputs):
    """(value, place behind it) of a signature's node."""
    node = nodes[index]
    end = index + node.size
    if node.kind in (TENSOR, INT, FLOAT, BOOL):
        if node.leaf >= 0:
            return outputs[node.leaf], end
        known = {INT: np.int64(node.integer), BOOL: np.bool_(node.integer),
                 FLOAT: np.float64(node.real)}[node.kind]
        return np.asarray(known), end
    if node.kind in (LIST, TUPLE):
        items, at = [], index + 1
        while at < end:
            item, at = read_node(nodes, at, outputs)
            items.append(item)
        return items, end
    if node.kind == DICT:
        items, at = {}, index + 1
        while at < end:
            key, value_at = nodes[at].text.decode(), at + nodes[at].size
            items[key], at = read_node(nodes, value_at, outputs)
        return list_of(items), end
    raise AssertionError(f"a result of kind {node.kind}")


class Signature:
    """Where arguments go, and where results and changed arguments are."""

    def __init__(self, model):
        self.nodes = model.nodes()
        count = self.nodes[0].integer
        at, self.inputs = 1, []
        for _ in range(count):
            self.inputs.append(self.nodes[at].leaf)
            at += self.nodes[at].size
        self.result = at
        at += self.nodes[at].size
        self.changed = {}
        while at < len(self.nodes):
            node = self.nodes[at]
            self.changed[(node.name or b"").decode()] = node.leaf
            at += node.size

    def arrays(self, arguments, count):
        arrays = [None] * count
        for leaf, value in zip(self.inputs, arguments):
            if leaf >= 0:
                arrays[leaf] = np.array(numbers_of(value))
        return arrays

    def results(self, outputs):
        value = read_node(self.nodes, self.result, outputs)[0]
        return value if isinstance(value, list) else [value]


def compare(call, signature, outputs, names):
    results = signature.results(outputs)
    if len(results) != len(call.wanted):
        return f"{len(results)} results instead of {len(call.wanted)}"
    for index, (got, want, mask) in enumerate(zip(results, call.wanted, call.masks)):
        off = mask and find_difference(got, want, mask)
        if off:
            return f"result {index}: {off}"
    for index, (want, mask) in call.changed.items():
        leaf = signature.changed.get(names[index])
        got = outputs[leaf] if leaf is not None else np.array(
            numbers_of(call.arguments[index]))
        off = mask and find_difference(got, want, mask)
        if off:
            return f"argument {names[index]} behind the call: {off}"
    return None


def judge_form(context, drawn, form, statements, calls, log=None):
    """None when all is well, else {kind, words}."""
    model, program = None, None
    names = [n for n, _, _ in drawn.program.args]
    try:
        model = context.load(drawn.archive, statements)
        if form != "interpret":
            program = model.compile()
        signature = Signature(model)
        for index, call in enumerate(calls):
            arrays = signature.arrays(call.arguments, len(model.inputs))
            try:
                outputs = (program.run(arrays) if program
                           else model.interpret(arrays))
            except Refused as error:
                kind = "wrong" if error.status == "INTERNAL" else "refused run"
                return {"form": form, "kind": kind, "words": f"call {index}: {error}"}
            off = compare(call, signature, outputs, names)
            if off:
                return {"form": form, "kind": "wrong", "words": f"call {index}: {off}"}
    except Refused as error:
        kind = "wrong" if error.status == "INTERNAL" else "refused"
        return {"form": form, "kind": kind, "words": str(error)}
    finally:
        if program:
            program.close()
        if model:
            model.close()
    return None


def expect_other_form(drawn, calls):
    """The calls with what another form of torch's gives for them: of an archive of TorchScript,
    which its own compiler rewrites from the second call on, the module that it was made of;
    of an exported one the program as torch runs it, whose results that are memory of a buffer
    show what is written to it afterwards.  A call that this form refuses is left out: the
    archive's compiler may have dropped what checks it."""
    module = copy.deepcopy(drawn.module)
    if drawn.form == "exported":
        module = torch.export.load(io.BytesIO(drawn.archive)).module()
    others = []
    for call in calls:
        try:
            results, changed = run_calls(module, [call.arguments])[0]
        except Exception:  # torch's have no class in common
            continue
        others.append(dataclasses.replace(
            call, wanted=results, changed={index: (changed[index], mask) for index, (_, mask)
                                           in call.changed.items()}))
    return others


def extents_match(call, statements):
    """Do the arguments have the extents that the statements fix?"""
    for statement, value in zip(statements, call.arguments):
        text = statement.split("=", 1)[1]
        if isinstance(value, torch.Tensor):
            dims = text[text.index("[") + 1:-1].split(",") if text[-2] != "[" else []
            if len(dims) != value.dim() or any(
                    d.isdigit() and int(d) != e for d, e in zip(dims, value.shape)):
                return False
    return True


def strides_of(results):
    """Those of a tensor without elements say nothing, nor does that of an extent of 1: torch's
    kernels and its own fake tensors, which all backends follow, differ there (topk, cos_)."""
    def read(tensor):
        return tuple(0 if n == 1 else s for n, s in zip(tensor.shape, tensor.stride(),
                                                        strict=True))
    return [type(r) if not isinstance(r, torch.Tensor) else read(r) if r.numel() else r.shape
            for r in results]


def compare_captured(call, got, want, arguments):
    """`got` and `want`: of one call the results of the compiled program and of eager."""
    for index, (result, expected, mask) in enumerate(zip(got, call.wanted, call.masks)):
        off = mask and find_difference(np.array(numbers_of(result)), expected, mask)
        if off:
            return f"result {index}: {off}"
    if strides_of(got) != strides_of(want):
        return f"strides or types are {strides_of(got)}, not {strides_of(want)}"
    for index, (expected, mask) in call.changed.items():
        off = mask and find_difference(np.array(numbers_of(arguments[index])), expected, mask)
        if off:
            return f"argument {index} behind the call: {off}"
    return None


def compare_compiled(drawn, backend, is_dynamic):
    """Words about the first call that torch.compile gives otherwise than eager, or None."""
    torch._dynamo.reset()
    eager = copy.deepcopy(drawn.module)
    program = torch.compile(copy.deepcopy(drawn.module), backend=backend, dynamic=is_dynamic)
    for index, call in enumerate(drawn.calls):
        arguments, others = copy.deepcopy(call.arguments), copy.deepcopy(call.arguments)
        memory = [a.view(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments]
        with torch.no_grad():
            want = list_of(eager(*others))
            try:
                got = list_of(program(*arguments))
            except Exception as error:
                words = (str(error).strip().splitlines() or ["?"])[0]
                return f"call {index}: {type(error).__name__}: {words}"
        off = compare_captured(call, got, want, memory)
        if off:
            return f"call {index}: {off}"
    return None


def judge_captured(drawn, is_dynamic):
    """The module under torch.compile, with its graph breaks, call after call.  What torch's own
    backend, which runs the same graphs by torch, has off as well is no fault of Ingot."""
    import ingot.dynamo
    ingot.dynamo._reported.clear()
    form = "captured dynamic" if is_dynamic else "captured"
    off = compare_compiled(drawn, "ingot", is_dynamic)
    reply = sorted(ingot.dynamo._reported)
    if off:
        own = compare_compiled(drawn, "aot_eager", is_dynamic)
        return {"form": form, "kind": "torch" if own else "wrong", "words": own or off}
    if reply:
        return {"form": form, "kind": "eager", "words": reply[0].split("eagerly: ")[-1]}
    return None


def forms_of(drawn):
    """Code is most of the time that a program takes: by turns with open or fixed extents."""
    fixed = fixed_statements(drawn)
    open_, fixed = ("open", drawn.statements), ("fixed", fixed)
    pair = (open_, fixed) if drawn.seed % 2 else (fixed, open_)
    return (("interpret", *pair[0]), ("compiled", *pair[1]))


def judge(drawn, log=None):
    if drawn.form == "captured":
        if log:
            log.stage(drawn.seed, "captured")
        found = judge_captured(drawn, drawn.seed % 2 == 0)
        return [found] if found else [], count_judged(drawn)
    context = Context()
    findings = []
    for form, name, statements in forms_of(drawn):
        if log:
            log.stage(drawn.seed, f"{form} {name}")
        calls = [c for c in drawn.calls if extents_match(c, statements)]
        found = judge_form(context, drawn, form, statements, calls)
        others = found and found["kind"] == "wrong" and expect_other_form(drawn, calls)
        if others and not judge_form(context, drawn, form, statements, others):
            found["kind"] = "torch"  # whose forms differ, and this is one of them
        if found:
            findings.append(found | {"form": f"{form} {name}"})
    context.close()
    return findings, count_judged(drawn)


def count_judged(drawn):
    masks = [m for c in drawn.calls for m in c.masks if m is not None]
    return (int(sum(m[0].sum() for m in masks)), int(sum(m[0].size for m in masks)))


def fixed_statements(drawn):
    if not drawn.statements:
        return []
    lines = []
    for statement, (name, _, value) in zip(drawn.statements, drawn.program.args):
        if isinstance(value, torch.Tensor):
            head = statement.split("[")[0]
            lines.append(f"{head}[{','.join(map(str, value.shape))}]")
        else:
            lines.append(f"{name}={str(value).lower()}")
    return lines
