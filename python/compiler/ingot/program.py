"""Programs: models compiled for this process.

SPDX-License-Identifier: Apache-2.0
"""
import io
import os
import sys

import ingot_runtime

from . import _compiler
from .operators import options_of


class Program(ingot_runtime.Program):
    """A compiled model; `ingot.compile` and `ingot.load` make them.

    program(*args, **kwargs) takes and gives what the Python module did; see
    ingot_runtime.Program.  `inputs`, `outputs` and `states` describe the flat values, `run`
    calls by the names of the inputs.
    """

    _source = None
    _libraries = ()  # of its operators in Python

    def _need_source(self, what):
        if self._source is None:
            raise ingot_runtime.InvalidError(
                f"this program was opened from an artifact, which holds no graph to {what}")
        return self._source

    def save(self, path):
        """Writes the artifact, which ingot_runtime.Program opens anywhere.

        A program that was opened from an artifact has no source to compile again
        (InvalidError): copy its file.  FileError: the file cannot be written.
        """
        source = self._need_source("compile again: copy that file")
        _compiler.compile_file(artifact=os.fspath(path), **source)

    def dump(self, stage="plan", format="text"):  # noqa: A002
        """The text of a stage.

        stage: "import", "tensor", "plan", "kernel", "llvm", "asm".
        format: "text"; for graphs ("import", "tensor") also "dot", "json", "html".
        """
        return _compiler.dump(stage=stage, format=format, **self._need_source("show"))

    def profile(self, *args, runs=100, **kwargs):
        """What each step of a call costs: a Profile, which prints as a table.

        args, kwargs: of the call.  runs: profiled runs, after an ordinary one; times are
        medians, in microseconds, clocks included.  State goes on as by any call.
        """
        from .inspect import Profile
        return Profile.of(self._profile(args, kwargs, runs))

    def verify(self, *args, rtol=1e-3, atol=1e-5, **kwargs):
        """Compares a call with the reference interpreter: a Verification, true where all
        outputs agree; it prints as a table.

        args, kwargs: of the call.  Floats may differ by atol + rtol |wanted|, all else not
        at all.  Slow: the interpreter computes each element by itself.  State begins anew
        first.  Needs numpy, and ml_dtypes for bf16 and smaller floats.  Raises
        UnsupportedError for programs with options that the interpreter does not have.
        """
        from .inspect import Verification, compare
        source = dict(self._need_source("interpret"))
        for name in ("clamp_ids", "torch_empty"):
            if source.get(name):
                raise ingot_runtime.UnsupportedError(
                    f"the interpreter has no {name}: verify a program without it")
        source["target"] = None
        self.reset()
        inputs, outputs = self._record(args, kwargs)
        given, got = ([(t.dtype, t.shape, t.strings() if t.dtype == "str" else t.tobytes())
                       for t in tensors] for tensors in (inputs, outputs))
        wanted = _compiler.interpret(arguments=given, **source)
        return Verification([compare(port, a, b, rtol, atol) for port, a, b in
                             zip(self.outputs, got, wanted, strict=True)], rtol, atol)

    def _repr_html_(self):
        """The graph, to be folded out and searched, where there is one."""
        import html
        text = f"<p>{html.escape(repr(self))}</p>"
        if self._source is None:
            return text
        page = html.escape(self.dump("import", "html"), quote=True)
        return (f'{text}<iframe srcdoc="{page}" style="width:100%;height:32em;border:0">'
                "</iframe>")

    def __repr__(self):
        facts = self.facts
        takes = ", ".join(f"{name}: {kind}" for name, kind, _, _ in self.inputs)
        gives = ", ".join(kind for _, kind, _, _ in self.outputs)
        return f"<ingot.Program {facts['model']}({takes}) -> ({gives}), {facts['level']}>"


def load(path, *, ops=None, **options):
    """Opens an artifact.  `ops` are those of ingot.compile, `options` those of
    ingot_runtime.Program."""
    given, libraries = options_of(ops)
    program = Program(os.fspath(path), **given, **options)
    program._libraries = libraries
    return program


def _tqdm_progress():
    """A callback that draws a bar, where tqdm was imported and there is a terminal."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is None or not sys.stderr.isatty():
        return None
    bars = {}

    def tell(stage, done, total):
        bar = bars.get(stage)
        if bar is None:
            bar = bars[stage] = tqdm.tqdm(total=total or None, desc=stage, leave=False)
        bar.update(done - bar.n)
        if total and done >= total:
            bar.close()
    return tell


def _export(module, example_inputs, dynamic_shapes, is_trained=False):
    import torch
    if example_inputs is None:
        raise TypeError("an nn.Module is exported with example_inputs=(x, …)")
    args = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    was_training = module.training
    if not is_trained:
        module.eval()
    try:
        with torch.no_grad():
            return torch.export.export(module, args, dynamic_shapes=dynamic_shapes)
    finally:
        module.train(was_training)


def _exported_bytes(program):
    import torch
    file = io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


def _statement(label, value, dims):
    """What `inputs` says of an argument: "0=f32[B, 13]"."""
    from .values import PAIR_NAMES, name_of
    dtype = getattr(value, "dtype", None)
    pairs = PAIR_NAMES.get(str(dtype).removeprefix("torch."))
    name = pairs or name_of(dtype)
    if name is None:
        raise TypeError(f"example_inputs[{label}] is not a tensor: say what this model's arguments "
                        f"are with inputs=[\"{label}=…\"]")
    extents = []
    for i, extent in enumerate(value.shape):
        dim = dims.get(i)
        named = dim if isinstance(dim, (str, int)) else getattr(dim, "__name__", f"d{label}_{i}")
        extents.append(str(extent if dim is None else named))
    if pairs:
        return f"{label}=complex({name}[{', '.join([*extents, '2'])}])"
    return f"{label}={name}[{', '.join(extents)}]"


def _statements(example_inputs, dynamic_shapes):
    """The same of all, for models that are not exported here."""
    if example_inputs is None:
        return []
    args = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    shapes = tuple(dynamic_shapes or [None] * len(args))
    if isinstance(dynamic_shapes, dict) or len(shapes) != len(args):
        raise TypeError("dynamic_shapes of this model: a tuple, one item for each example")
    return [_statement(i, x, dict(enumerate(d)) if isinstance(d, (list, tuple)) else d or {})
            for i, (x, d) in enumerate(zip(args, shapes, strict=True))]


def _file_of(model):
    """A model that the compiler reads as it is, as keywords of _compiler: a path, or bytes."""
    if isinstance(model, (str, os.PathLike)):
        return {"path": os.fspath(model)}
    if isinstance(model, (bytes, bytearray, memoryview)):
        return {"data": bytes(model)}
    if hasattr(model, "SerializeToString"):  # onnx.ModelProto
        return {"data": model.SerializeToString(), "path": "<ModelProto>"}
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, (torch.jit.ScriptModule,
                                                torch.jit.ScriptFunction)):
        file = io.BytesIO()
        torch.jit.save(model, file)
        return {"data": file.getvalue(), "path": "<ScriptModule>"}
    raise TypeError(f"a model is a path, bytes, an onnx.ModelProto, an nn.Module or an "
                    f"ExportedProgram, not {type(model).__name__}")


def _source_of(model, example_inputs, dynamic_shapes, inputs, is_trained=False):
    """Any model with what is said of its inputs, as keywords of _compiler.

    A module to be trained is exported in the mode in which it is."""
    is_file = isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview))
    torch = None if is_file else sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module) and not isinstance(
            model, torch.jit.ScriptModule):
        model = _export(model, example_inputs, dynamic_shapes, is_trained)
    if torch is not None and isinstance(model, torch.export.ExportedProgram):
        return {"data": _exported_bytes(model), "path": "<ExportedProgram>",
                "inputs": list(inputs)}
    return {**_file_of(model), "inputs": [*_statements(example_inputs, dynamic_shapes), *inputs]}


def compile(model, example_inputs=None, dynamic_shapes=None, *, inputs=(), target=None,  # noqa: A001
            threads=1, entry=None, resource=None, isolate=False, clamp_ids=False,
            torch_empty=False, cache=None, memory_limit=0, progress=None, ops=None,
            external_data=None, winograd=False):
    """Compiles a model for this process.

    model: a path (.onnx, .pt, .pt2, .ig), bytes of such a file, an onnx.ModelProto, a
        ScriptModule, a torch.export.ExportedProgram, or an nn.Module, which is exported with
        `example_inputs` (a tuple) and `dynamic_shapes` (as torch.export takes them).  Of a
        TorchScript model the two say the types of its tensors: extents are those of the
        examples but where dynamic_shapes, a tuple, names them.
    inputs: statements about inputs, "x=f32[B, 13]", where the file does not say enough.
    target: "cpu", "cpu:v3", "interpret"; None: the best that this machine runs.
    threads: that share the work of a call; 0: as many as there are CPUs.
    entry, resource: the method of a TorchScript module; what to take from a package.
    isolate: import and compile in a confined process, for files that nobody trusts.
    clamp_ids, torch_empty: ids out of range, and empty bags (ingot compile --help).
    cache: folder of compiled models; None: the user's; "": none.
    memory_limit: bytes that the compiler may use; 0: no limit.
    progress: called as progress(stage, done, total); None: tqdm's bar where it is imported.
    ops: operators of your own: {"ns::op": function} (ingot.operator), files of IR text or
        libraries, or a list of these (docs/custom-operators.md).
    external_data: of an ONNX model, in place of files beside it: {"weights.bin": bytes}, or
        tensors by their names, {"layer.weight": array}; whatever has a buffer.
    winograd: 3 x 3 convolutions of f32 of fewer products, rounded in other places
        (docs/performance.md).

    Returns a Program.  Raises InvalidError, UnsupportedError, LimitError, FileError,
    CancelledError, InternalError, all of them ingot.Error, with what to do in the text.
    """
    source = _source_of(model, example_inputs, dynamic_shapes, inputs)
    source.update(target=target, entry=entry, resource=resource, isolate=isolate,
                  clamp_ids=clamp_ids, torch_empty=torch_empty, cache=cache,
                  memory_limit=memory_limit, winograd=winograd,
                  external_data=dict(external_data or {}))
    given, libraries = options_of(ops)
    source.update(given)
    capsule = _compiler.compile(progress=progress or _tqdm_progress(), **source)
    program = Program._from_capsule(capsule, threads)
    program._libraries = libraries
    program._source = source
    return program


def dump(model, stage="plan", format="text", **options):  # noqa: A002
    """The text of a stage of a model; options as those of `compile`."""
    source = _source_of(model, options.pop("example_inputs", None),
                        options.pop("dynamic_shapes", None), options.pop("inputs", ()))
    given, libraries = options_of(options.pop("ops", None))
    source.update(given)
    return _compiler.dump(stage=stage, format=format, **source, **options)
