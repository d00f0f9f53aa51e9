"""torch.compile's backend "ingot".

    torch.compile(model, backend="ingot")            # an entry point: no import is needed

make_fx makes a graph of ATen operators, and AOTAutograd, which traces more than once, where
something is changed in place or shared with a result; torch's own serializer its JSON, and with
the weights that makes an archive as torch.export writes them, which the compiler reads.  What
cannot be compiled runs eagerly, and the reason is logged once (logger "ingot").

Tables (parameters and buffers that the graph reads by rows alone) stay where torch has them:
the program is given them with each call.  Other parameters and buffers become constants, which
are packed, so each call looks whether they still are the same tensors with the same storage
and version, and compiles anew where they are not.

Where gradients are needed, AOTAutograd makes two graphs, forward and backward, of which all
parameters are arguments.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import io
import json
import logging
import operator
import re
import zipfile

import torch
from torch._decomp import core_aten_decompositions, decomposition_table
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.backends.common import aot_module_simplified
from torch._export.serde.serialize import GraphModuleSerializer, _dataclass_to_dict
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.export.graph_signature import (ExportGraphSignature, InputKind, InputSpec,
                                          OutputKind, OutputSpec, SymIntArgument,
                                          TensorArgument)

import ingot_runtime

from . import _compiler
from .layout import Views, base_of, is_view, result_hooks
from .program import Program

log = logging.getLogger("ingot")
_reported = set()


def _location_of(module):
    """Where the graph's last operation stands in the user's code."""
    traces = [n.stack_trace for n in module.graph.nodes if n.op.startswith("call_")]
    lines = re.findall(r'File "(.+)", line (\d+), in (.+)', (traces and traces[-1]) or "")
    return "{}:{}: in {}: ".format(*lines[-1]) if lines else ""


def _tell_once(reason, module):
    """Each graph is told, but once where it is compiled for several extents."""
    text = f"{_location_of(module)}this graph runs eagerly: {reason}"
    if text not in _reported:
        _reported.add(text)
        log.warning("%s", text)


# ---- tracing ----

_READ = torch.ops.aten._local_scalar_dense.default
_EFFECTS = torch.ops.higher_order.with_effects
_WRITERS = {"setitem"} | {n for n in dir(operator) if n[0] == "i" and (
    hasattr(operator, n[1:]) or hasattr(operator, n[1:] + "_"))}  # iadd, iand …
_PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


def _needs_more(node):
    """Does dynamo's node write in place, hold graphs, or read a number of a tensor?"""
    name = node.target if isinstance(node.target, str) else getattr(
        node.target, "__name__", "")
    return (isinstance(node.target, torch._ops.HigherOrderOperator)
            or name.endswith("_") and not name.endswith("__")
            or name in _WRITERS or name == "prelu" or bool(node.kwargs.get("inplace"))
            or node.kwargs.get("out") is not None)


def _fake_of(value, context):
    """The input with dynamo's symbols for extents; weights have theirs as numbers."""
    if not isinstance(value, torch.Tensor) or isinstance(value, FakeTensor):
        return value
    known = context.tensor_to_context.get(value)
    if known is None:
        return context.fake_mode.from_tensor(value, static_shapes=True)
    return context.fake_mode.from_tensor(value, symbolic_context=known,
                                         source=known.tensor_source)


def _is_functional(module):
    """No operator writes, none holds graphs, and each result has memory of its own."""
    graph = module.graph
    for node in graph.nodes:
        if node.op == "get_attr" and not isinstance(getattr(module, node.target, None),
                                                    torch.Tensor):
            return False
        if node.op == "call_function" and (
                isinstance(node.target, torch._ops.HigherOrderOperator)
                or node.target is _READ
                or getattr(getattr(node.target, "_schema", None), "is_mutable", False)):
            return False
    results = next(n for n in graph.nodes if n.op == "output").args[0]
    results = results if isinstance(results, (list, tuple)) else [results]
    if not all(isinstance(n, torch.fx.Node) and isinstance(n.meta.get("val"), torch.Tensor)
               for n in results):
        return False
    bases = [base_of(n) for n in results]
    return len(set(bases)) == len(bases) and all(b.op != "placeholder" for b in bases)


def _trace_once(module, inputs):
    """The graph of ATen operators, or None where it takes AOTAutograd to have one."""
    context = torch._guards.TracingContext.try_get()
    if not context or not context.fake_mode or not all(
            isinstance(x, (int, torch.SymInt)) or type(x) in _PLAIN for x in inputs):
        return None
    if any(n.op.startswith("call_") and _needs_more(n) for n in module.graph.nodes):
        return None
    # Python's floats: AOTAutograd has dynamo begin anew with those that no tensor needs as
    # numbers, and calls make no tensors of them.
    if any(isinstance(x, torch.Tensor) and not x.dim() and x.dtype == torch.float64
           for x in inputs):
        return None
    fakes = [_fake_of(x, context) for x in inputs]
    # Kernels in C++ that ask for an extent would fix it: those in Python are preferred.
    try:
        with context.fake_mode, enable_python_dispatcher(), torch.no_grad():
            traced = make_fx(module, tracing_mode="real")(*fakes)
    except Exception:  # of any kind: AOTAutograd may do it, or says what it is
        return None
    # Numbers that were read of constants are in the graph as numbers.
    traced.graph.eliminate_dead_code(lambda node: node.is_impure() and node.target is not _READ)
    return traced if _is_functional(traced) else None


# ---- the graph ----

def _bind_sizes(graph):
    """Sizes that are inputs of their own become sizes of the tensors that have them."""
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    for holder in holders:
        size = holder.meta.get("val")
        if not isinstance(size, torch.SymInt) or not holder.users:
            continue
        for tensor in holders:
            value = tensor.meta.get("val")
            dims = value.shape if isinstance(value, torch.Tensor) else ()
            dim = next((i for i, d in enumerate(dims) if isinstance(d, torch.SymInt)
                        and d.node.expr == size.node.expr), None)
            if dim is not None:
                with graph.inserting_after(holders[-1]):
                    read = graph.call_function(torch.ops.aten.sym_size.int, (tensor, dim))
                read.meta["val"] = size
                holder.replace_all_uses_with(read)
                break


def _split_sums(graph):
    """torch.sym_sum, which the serializer does not know, as additions."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not torch.sym_sum:
            continue
        total, *rest = node.args[0]
        with graph.inserting_before(node):
            for term in rest:
                added = graph.call_function(operator.add, (total, term))
                values = [t.meta["val"] if isinstance(t, torch.fx.Node) else t
                          for t in (total, term)]
                added.meta["val"] = values[0] + values[1]
                total = added
        node.replace_all_uses_with(total)
        graph.erase_node(node)


def _unwrap_effect(graph, node):
    """The operator itself, in place of it with a token that goes through it."""
    token, target, *args = node.args
    _, *values = node.meta["val"]
    with graph.inserting_before(node):
        call = graph.call_function(target, tuple(args), node.kwargs)
    call.meta["val"] = values[0] if len(values) == 1 else tuple(values)
    for part in list(node.users):  # the token, and then the results
        index, new = part.args[1], call
        if index and len(values) > 1:
            with graph.inserting_before(part):
                new = graph.call_function(operator.getitem, (call, index - 1))
            new.meta["val"] = values[index - 1]
        part.replace_all_uses_with(new if index else token)
        graph.erase_node(part)
    graph.erase_node(node)
    return token


def _drop_effects(graph):
    """Operators that check something as such: programs do them in order without tokens,
    which callers give and take as None.  Places of these among the inputs."""
    tokens = {_unwrap_effect(graph, node) for node in list(graph.nodes)
              if node.op == "call_function" and node.target is _EFFECTS}
    output = next(n for n in graph.nodes if n.op == "output")
    if tokens:
        output.args = (tuple(None if n in tokens else n for n in output.args[0]),)
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    for token in tokens:
        graph.erase_node(token)
    return {i for i, n in enumerate(holders) if n in tokens}


def _without(call, left_out):
    """A call that does not get the arguments at these places."""
    return call if not left_out else lambda *args: call(
        *(a for i, a in enumerate(args) if i not in left_out))


_LIFTS = {torch.ops.aten.lift_fresh_copy.default, torch.ops.aten.lift_fresh.default,
          torch.ops.aten.lift.default}


def _lift_constants(module):
    """Tensors that the graph holds itself become inputs after the others: their values."""
    graph, values, holders = module.graph, [], {}
    last = next((n for n in reversed(graph.nodes) if n.op == "placeholder"), None)
    for node in list(graph.nodes):
        held = getattr(module, node.target, None) if node.op == "get_attr" else None
        if isinstance(held, FakeTensor):
            held = held.constant
        if isinstance(held, torch.Tensor):
            if node.target not in holders:
                before = last.next if last else next(iter(graph.nodes))
                with graph.inserting_before(before):
                    last = holders[node.target] = graph.placeholder(f"constant_{len(values)}")
                last.meta["val"] = node.meta.get("val", held)
                values.append(held)
            node.replace_all_uses_with(holders[node.target])
            graph.erase_node(node)
        elif node.op == "call_function" and node.target in _LIFTS:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return values


def _decompose(module, error):
    """The graph with torch's own decompositions of the operators that the error names as
    not supported; None where torch has none of one of them."""
    named = set(re.findall(r"operator (aten::\w+)", str(error)))
    table = {op: rule for op, rule in decomposition_table.items()
             if getattr(op, "_schema", None) and op._schema.name in named}
    if not named or {op._schema.name for op in table} != named:
        return None
    values = [n.meta["val"] for n in module.graph.nodes if n.op == "placeholder"]
    mode = torch._guards.detect_fake_mode(values)
    if not mode:
        return None
    values = [mode.from_tensor(v, static_shapes=True) if isinstance(v, torch.Tensor)
              and not isinstance(v, FakeTensor) else v for v in values]
    module.recompile()  # constants have become arguments
    with mode, enable_python_dispatcher(), torch.no_grad():
        return make_fx(module, decomposition_table=table, tracing_mode="real")(*values)


def _argument_of(node):
    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
    kind = SymIntArgument if isinstance(value, (torch.SymInt, int)) else TensorArgument
    return kind(name=node.name)


def _signature_of(graph, static):
    """Inputs at the places in `static` are parameters "p0", "p1" …"""
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    result = next(n for n in graph.nodes if n.op == "output").args[0]
    inputs = [InputSpec(InputKind.PARAMETER, _argument_of(n), f"p{i}") if i in static else
              InputSpec(InputKind.USER_INPUT, _argument_of(n), None)
              for i, n in enumerate(holders)]
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument_of(n), None) for n in result]
    return ExportGraphSignature(inputs, outputs)


def _spec(kind, children):
    return {"type": f"builtins.{kind}", "context": "[]" if kind == "dict" else "null",
            "children_spec": children}


def _forget_origins(graph):
    """What the serializer would write about modules and sources of another form."""
    for node in graph.nodes:
        for key in ("nn_module_stack", "source_fn_stack", "stack_trace", "torch_fn",
                    "from_node", "custom"):
            node.meta.pop(key, None)


def _program_json(module, static, count):
    """The graph as torch.export writes it: given arguments, a tuple of results."""
    _forget_origins(module.graph)
    leaf = {"type": None, "context": None, "children_spec": []}
    graph = module.graph
    signature = _signature_of(graph, static)
    written = _dataclass_to_dict(GraphModuleSerializer(signature, []).serialize(module))
    takes = _spec("tuple", [_spec("tuple", [leaf] * count), _spec("dict", [])])
    gives = _spec("tuple", [leaf] * len(signature.output_specs))
    written["module_call_graph"] = [{"fqn": "", "signature": {
        "in_spec": json.dumps([1, takes]), "out_spec": json.dumps([1, gives])}}]
    return {"graph_module": written, "range_constraints": {},
            "schema_version": {"major": 8, "minor": 0}}


# ---- the archive ----

def _raw_bytes(tensor):
    """A view of the elements; of a copy where they do not lie row-major."""
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return memoryview(tensor.view(-1).view(torch.uint8).numpy()) if tensor.numel() else b""


def _archive_of(program, weights):
    """Weights are dense in the archive, whatever strides they have here."""
    metas = program["graph_module"]["graph"]["tensor_values"]
    specs = program["graph_module"]["signature"]["input_specs"]
    names = {s["parameter"]["parameter_name"]: s["parameter"]["arg"]["name"]
             for s in specs if "parameter" in s}
    file, config = io.BytesIO(), {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in weights.items():
            strides, run = [], 1
            for extent in reversed(tensor.shape):
                strides.insert(0, {"as_int": run})
                run *= max(extent, 1)
            meta = {**metas[names[name]], "strides": strides, "storage_offset": {"as_int": 0},
                    "sizes": [{"as_int": extent} for extent in tensor.shape]}
            config[name] = {"path_name": name, "is_param": True, "use_pickle": False,
                            "tensor_meta": meta}
            archive.writestr(f"m/data/weights/{name}", _raw_bytes(tensor))
        archive.writestr("m/data/weights/model_weights_config.json",
                         json.dumps({"config": config}))
        archive.writestr("m/models/model.json", json.dumps(program))
        archive.writestr("m/archive_format", "pt2")
    return file.getvalue()


# ---- which weights are copied ----

# Operators that read rows of their first argument, which nothing packs.
_READS_ROWS = {torch.ops.aten.embedding, torch.ops.aten.embedding_bag,
               torch.ops.aten._embedding_bag, torch.ops.aten._embedding_bag_forward_only,
               torch.ops.aten.index_select, torch.ops.aten.index, torch.ops.aten.gather}


def _is_table(holder, constants):
    """Rows at constant places are constants themselves."""
    return all(user.op == "call_function" and user.args[0] is holder
               and getattr(user.target, "overloadpacket", None) in _READS_ROWS
               and any(node not in constants for node in user.all_input_nodes)
               for user in holder.users)


def _constant_inputs(graph, inputs, static):
    """Places among `static` of weights that become constants.  Tensors of inference mode
    have no version by which a change of them could be seen: they are given to each call."""
    holders = [n for n in graph.nodes if n.op == "placeholder"]
    held = [i for i in sorted(static) if isinstance(inputs[i], torch.Tensor)
            and not inputs[i].is_inference()]
    constants = {holders[i] for i in held}
    return [i for i in held if not _is_table(holders[i], constants)]


_version_of = torch.Tensor._version.__get__
_storage_of = torch.Tensor.data_ptr


# ---- compiled graphs ----

def _leave_out_constants(graph):
    """The graph returns no None and no number; the results with these, and the others' places."""
    output = next(n for n in graph.nodes if n.op == "output")
    results = output.args[0]
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    there = [i for i, node in enumerate(results) if isinstance(node, torch.fx.Node)]
    output.args = (tuple(results[i] for i in there),)
    return [None if isinstance(r, torch.fx.Node) else r for r in results], there


class CompiledGraph:
    """A graph with the program made of it, for the weights that it was made with."""

    def __init__(self, module, inputs, static, options):
        self.module, self.options = module, options
        self.whole, self.there = _leave_out_constants(module.graph)
        self.constants = _lift_constants(module)
        first = len(inputs)
        lifted = range(first, first + len(self.constants))
        indices = _constant_inputs(module.graph, [*inputs, *self.constants],
                                  static | set(lifted))
        self.static = [i for i in indices if i < first]
        self.given = [i for i in range(first) if i not in set(self.static)]
        self.fixed = {*self.static, *lifted}
        try:
            self.compile(inputs)
        except ingot_runtime.UnsupportedError as error:
            self.module = _decompose(module, error)
            if not self.module:
                raise
            self.compile(inputs)

    def is_made_for(self, weights):
        return (all(map(operator.is_, weights, self.weights))
                and list(map(_version_of, weights)) == self.versions
                and list(map(_storage_of, weights)) == self.storages)

    def read_graph(self):
        """What the graph says of arguments and results, and its JSON, which forgets it."""
        nodes = {n.op: n for n in self.module.graph.nodes}
        values = [n.meta.get("val") for n in self.module.graph.nodes if n.op == "placeholder"]
        results = [None if n.meta.get(_KEPT) else n.meta.get("val")
                   for n in nodes["output"].args[0]]
        self.hooks = result_hooks(results, [values[i] for i in self.given])
        return _program_json(self.module, self.fixed, len(self.given))

    def compile(self, inputs):
        self.weights = [inputs[i] for i in self.static]
        self.versions = list(map(_version_of, self.weights))
        self.storages = list(map(_storage_of, self.weights))
        if getattr(self, "read", None) is not self.module:
            self.json, self.read = self.read_graph(), self.module
        every = [*inputs, *self.constants]
        with unset_fake_temporarily():  # the weights are real
            data = _archive_of(self.json, {f"p{i}": every[i] for i in sorted(self.fixed)})
        threads = self.options.get("threads", 1)
        capsule = _compiler.compile(data=data, path="<torch.compile>",
                                    target=self.options.get("target"))
        self.program = Program._from_capsule(capsule, threads, torch.Tensor)

    def __call__(self, *args):
        if not self.is_made_for([args[i] for i in self.static]):
            self.compile(args)
        given = [args[i] for i in self.given]
        results = self.program(*given)
        if not self.hooks and len(self.there) == len(self.whole):
            return results
        results = list(results)
        for i, hook in self.hooks:
            results[i] = hook(results[i], given)
        if len(self.there) < len(self.whole):
            whole = list(self.whole)
            for i, result in zip(self.there, results, strict=True):
                whole[i] = result
            results = whole
        return tuple(results)


def _static_inputs(module):
    """Places of parameters and buffers among the inputs."""
    holders = [n for n in module.graph.nodes if n.op == "placeholder"]
    return {i for i, n in enumerate(holders)
            if "_dynamo_static_input_type" in (n.meta.get("tensor_dict") or {})}


def _parts_of(value):
    """The plain tensors in one that holds others, in AOTAutograd's order; else the value."""
    if not is_traceable_wrapper_subclass(value):
        return [value]
    names, _ = value.__tensor_flatten__()
    return [part for name in names for part in _parts_of(getattr(value, name))]


def _plain_inputs(inputs, static):
    """Inputs as AOTAutograd passes them, and which of these are static."""
    plain, indices = [], set()
    for index, value in enumerate(inputs):
        parts = _parts_of(value)
        if index in static:
            indices.update(range(len(plain), len(plain) + len(parts)))
        plain += parts
    return plain, indices


def _input_facts():
    context = torch._guards.TracingContext.try_get()
    facts = context.fw_metadata if context else None
    return facts.input_info if facts else ()


def _boxed(call):
    """A function of a list, which it empties: what AOTAutograd calls."""
    def run(args):
        given = list(args)
        args.clear()
        return call(*given)
    run._boxed_call = True
    return run


_BAGS_BACK = torch.ops.aten._embedding_bag_backward.default
_BAG_SUM = 0


def _read_less(graph):
    """What forward knows of bags, and their gradient makes anew or does not read, is not kept
    for it: the bag of each id; of sums also the bags' sizes and maxima."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not _BAGS_BACK:
            continue
        offsets, sizes, maxima = node.args[2], *node.args[4:6]
        with graph.inserting_before(node):
            none = graph.call_function(torch.ops.aten.full.default, ([0], 0), {
                "dtype": offsets.meta["val"].dtype, "device": torch.device("cpu"),
                "pin_memory": False})
        none.meta["val"] = offsets.meta["val"].new_empty(0)
        if node.args[8] == _BAG_SUM:
            sizes = maxima = offsets
        node.args = (*node.args[:3], none, sizes, maxima, *node.args[6:])


def _make_anew(forward, backward, results):
    """What forward makes of nothing, as offsets that count up, backward makes for itself."""
    output = next(n for n in forward.graph.nodes if n.op == "output")
    made = {n.name: n for n in output.args[0][results:]
            if n.op == "call_function" and not n.all_input_nodes}
    gone = set()
    for holder in [n for n in backward.graph.nodes if n.op == "placeholder"]:
        node = made.get(holder.name)
        if node is None:
            continue
        gone.add(node)
        first = next(n for n in backward.graph.nodes if n.op != "placeholder")
        with backward.graph.inserting_before(first):
            anew = backward.graph.node_copy(node)
        holder.replace_all_uses_with(anew)
        backward.graph.erase_node(holder)
    kept = [n for i, n in enumerate(output.args[0]) if i < results or n not in gone]
    output.args = (type(output.args[0])(kept),)
    for half in forward, backward:
        half.graph.eliminate_dead_code()
        half.recompile()


# In the meta of what forward keeps for backward and gives nobody else: it lies row by row,
# as programs give and take it, whatever strides it was traced with.
_KEPT = "ingot_is_kept"


def _views_between(node):
    """What the node is made of by views that take numbers alone, none of which leaves out
    elements, and these views in order."""
    views = []
    while (is_view(node) and node.target is not operator.getitem
           and node.args[0].meta["val"].numel() <= node.meta["val"].numel()
           and len(node.all_input_nodes) == 1):
        views.insert(0, node)
        node = node.args[0]
    return node, views


def _keep_bases(forward, backward, results):
    """Forward keeps what it has computed, each value once, and backward makes views of it:
    of what a program is given these are no copies, and of what it gives they are."""
    output = next(n for n in forward.graph.nodes if n.op == "output")
    holders = {n.name: n for n in backward.graph.nodes if n.op == "placeholder"}
    first = next(n for n in backward.graph.nodes if n.op != "placeholder")
    kept = list(output.args[0][results:])
    for node in [n for n in kept if isinstance(n, torch.fx.Node)]:
        base, views = _views_between(node)
        if (not views or base.op != "call_function" or node.name not in holders
                or node.meta.get("saved_tensor_with_no_vc_check")):
            continue
        index, old = kept.index(node), holders[node.name]
        if base in kept:
            del kept[index]
        else:
            kept[index] = base
            with backward.graph.inserting_before(old):
                holders[base.name] = backward.graph.placeholder(base.name)
            holders[base.name].meta = dict(base.meta)
        made = {base: holders[base.name]}
        with backward.graph.inserting_before(first):
            for view in views:
                made[view] = backward.graph.node_copy(view, made.__getitem__)
        old.replace_all_uses_with(made[node])
        backward.graph.erase_node(old)
    output.args = ((*output.args[0][:results], *kept),)
    given = {base_of(n) for n in output.args[0][:results] if isinstance(n, torch.fx.Node)}
    for node in kept:
        if isinstance(node, torch.fx.Node) and base_of(node) not in given:
            node.meta[_KEPT] = True
    for half in forward, backward:
        half.graph.eliminate_dead_code()
        half.recompile()


def _partition(joint, inputs, *, num_fwd_outputs, **more):
    _read_less(joint.graph)
    halves = min_cut_rematerialization_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs,
                                                 **more)
    _make_anew(*halves, num_fwd_outputs)
    _keep_bases(*halves, num_fwd_outputs)
    return halves


def _given_rows(module):
    """The graph run eagerly, whose arguments may lie otherwise than it was traced with."""
    values = [n.meta.get("val") for n in module.graph.nodes if n.op == "placeholder"]
    hooks = result_hooks(values, values)

    def run(*args):
        given = list(args)
        for i, hook in hooks:
            given[i] = hook(given[i], args)
        return module.forward(*given)
    return run if hooks else module.forward


def _compile_gradients(module, example_inputs, compile_graph):
    """Forward and backward, of which the parameters are arguments like others: a step of
    an optimizer changes them where they are, and compiles nothing.  What backward can make
    anew of what it is given anyway, as transposed weights and offsets, forward does not keep."""
    def compile_forward(graph_module, inputs):
        return _boxed(compile_graph(graph_module, inputs, set(), graph_module.forward))

    def compile_backward(graph_module, inputs):
        return _boxed(compile_graph(graph_module, inputs, set(), _given_rows(graph_module)))

    # Attention as products and softmax, of which each half knows the formula.
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return aot_module_simplified(module, example_inputs, fw_compiler=compile_forward,
                                     bw_compiler=compile_backward,
                                     partition_fn=_partition,
                                     decompositions=core_aten_decompositions())


def backend(module, example_inputs, **options):
    """Called by dynamo with a graph; `options`: threads, target."""
    tensors = [x for x in example_inputs if isinstance(x, torch.Tensor)]
    if any(x.device.type != "cpu" for x in tensors):
        _tell_once("an input is not in the host's memory", module)
        return module.forward
    static = _static_inputs(module)

    def compile_graph(graph_module, inputs, constant, eager):
        try:
            graph = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))
            _bind_sizes(graph.graph)
            _split_sums(graph.graph)
            tokens = _drop_effects(graph.graph)
            given = [x for i, x in enumerate(inputs) if i not in tokens]
            views = Views(graph.graph)
            compiled = CompiledGraph(graph, given, constant, options) if (
                views.left or not views) else None
            return _without(views.around(compiled) if views else compiled, tokens)
        except (ingot_runtime.Error, NotImplementedError, torch._export.serde.serialize.
                SerializeError) as error:
            _tell_once(str(error), module)
            return eager

    def compile_functional(graph_module, fake_inputs):
        changed = {i for i, info in enumerate(_input_facts()) if info.mutates_data}
        inputs, constant = _plain_inputs(example_inputs, static - changed)
        if len(fake_inputs) != len(inputs):
            _tell_once("the graph is ordered by effects (it raises errors while it runs)",
                       module)
            return graph_module.forward
        return compile_graph(graph_module, inputs, constant, graph_module.forward)

    needs_gradients = torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
    traced = None if needs_gradients else _trace_once(module, example_inputs)
    if traced:
        return compile_graph(traced, example_inputs, static, module.forward)
    try:
        if needs_gradients:
            return _compile_gradients(module, example_inputs, compile_graph)
        return aot_module_simplified(module, example_inputs, fw_compiler=compile_functional)
    except RuntimeError as error:
        if type(error) is not RuntimeError:  # dynamo's own begin anew, or say more
            raise
        _tell_once(f"AOTAutograd: {error}", module)  # as of open views that share memory
        return module.forward


if "ingot" not in torch._dynamo.list_backends():  # of a wheel torch finds the entry point
    torch._dynamo.register_backend(backend, name="ingot")
