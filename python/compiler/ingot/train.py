"""Trains models: a step is a program like any other (docs/training.md).

    import ingot.train as train
    trainer = train.Trainer(module, "bce_logits:=label", {
        "tables.*": train.rowwise_adagrad(lr=0.02), "*": train.adamw(lr=0.002)},
        example_inputs=(dense, ids, offsets))
    for dense, ids, offsets, label in batches:
        loss = trainer.step(dense, ids, offsets, label)
    trainer.save_model("trained.ingot")

Parameters of a module are trained where torch has them: a step changes them in place.  With
`ranks` several processes train one model, each its parts of the tables.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import json
import os
import sys

import numpy

import ingot_runtime

from . import _compiler
from ._library import open_library, raise_error
from .ranks import DIVISIONS, Parts, Ranks
from .program import Program, _source_of, _tqdm_progress
from .values import NAMES, numpy_type

__all__ = ["Ranks", "Trainer", "adagrad", "adam", "adamw", "lamb", "lars", "partial_rowwise_adam",
           "partial_rowwise_lamb", "rowwise_adagrad", "sgd"]

# ---- optimizers ----


def _rule(name):
    def rule(**keys):
        words = (f"{key}={int(value) if isinstance(value, bool) else value}"
                 for key, value in keys.items())
        return f"{name}({','.join(words)})"
    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = f"The optimizer {name}; keys as in docs/training.md: lr, weight_decay …"
    return rule


sgd, adagrad, rowwise_adagrad = _rule("sgd"), _rule("adagrad"), _rule("rowwise_adagrad")
adam, adamw, partial_rowwise_adam = _rule("adam"), _rule("adamw"), _rule("partial_rowwise_adam")
lamb, partial_rowwise_lamb = _rule("lamb"), _rule("partial_rowwise_lamb")
lars = _rule("lars")

# ---- libingot-train ----

_PARTS = ("step", "evaluate", "predict", "initial")
_DTYPES = {"f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "bool": 9,
           "f16": 10, "f64": 11, "u32": 12, "u64": 13, "bf16": 16}
_CODES = {code: name for name, code in _DTYPES.items()}


class _View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("capacity", ctypes.c_size_t),
                ("dtype", ctypes.c_int32), ("rank", ctypes.c_uint32),
                ("dims", ctypes.c_int64 * 8), ("memory", ctypes.c_int32),
                ("device", ctypes.c_int32)]


class _Place(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("view", _View)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("message", ctypes.c_char_p),
                ("message_size", ctypes.c_size_t), ("level", ctypes.c_char_p),
                ("pool", ctypes.c_void_p), ("threads", ctypes.c_int),
                ("ranks", ctypes.c_void_p), ("places", ctypes.POINTER(_Place)),
                ("place_count", ctypes.c_size_t)]


class _Trained(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("view", _View), ("is_state", ctypes.c_int),
                ("is_set", ctypes.c_int)]


class _Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("dtype", ctypes.c_int),
                ("rank", ctypes.c_uint32), ("dims", ctypes.c_int64 * 8),
                ("memory", ctypes.c_int32), ("device", ctypes.c_int32),
                ("in_place_of", ctypes.c_int32), ("role", ctypes.c_int),
                ("axis", ctypes.c_int32), ("partner", ctypes.c_int32),
                ("is_weight", ctypes.c_int32)]


_library = None


def _train():
    global _library
    if _library is None:
        lib = open_library("train")
        pointer, count, views = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(_View)
        number = ctypes.POINTER(ctypes.c_double)
        made = [ctypes.POINTER(_Options), ctypes.POINTER(pointer)]
        takes = {"open": [ctypes.c_char_p, *made], "close": [pointer],
                 "create": [ctypes.POINTER(pointer), *made],
                 "input_count": [pointer], "input": [pointer, count],
                 "step": [pointer, views, count, number, views],
                 "evaluate": [pointer, views, count, number, views],
                 "predict": [pointer, views, count, views, count],
                 "error": [pointer], "step_count": [pointer],
                 "set_step_count": [pointer, ctypes.c_int64], "group_count": [pointer],
                 "rates": [pointer], "decays": [pointer], "count": [pointer],
                 "get": [pointer, count], "set": [pointer, count, views],
                 "changed": [pointer], "program": [pointer, ctypes.c_int]}
        gives = {"input_count": count, "input": _Port, "error": ctypes.c_char_p,
                 "step_count": ctypes.c_int64, "group_count": count, "rates": number,
                 "decays": number, "count": count, "get": _Trained, "program": pointer}
        for name, arguments in takes.items():
            function = getattr(lib, f"ig_trainer_{name}")
            function.argtypes = arguments
            function.restype = gives.get(name, ctypes.c_int)
        lib.ig_program_output_count.argtypes = [pointer]
        lib.ig_program_output_count.restype = count
        lib.ig_program_output.argtypes, lib.ig_program_output.restype = [pointer, count], _Port
        _library = lib
    return _library


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

# ---- arrays ----


def _is_torch(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _view_of(value):
    """(view, the array that it is of), row-major and in the host's memory."""
    if _is_torch(value):
        value = value.detach().cpu().contiguous()
        name, data = str(value.dtype).removeprefix("torch."), value.data_ptr()
    else:
        value = numpy.asarray(value, order="C")
        name, data = value.dtype.name, value.ctypes.data
    dtype = NAMES.get(name)
    if dtype not in _DTYPES:
        raise TypeError(f"elements of {name} are of no type that a step takes")
    dims = tuple(value.shape)
    return _View(data=data or None, dtype=_DTYPES[dtype], rank=len(dims),
                 dims=(ctypes.c_int64 * 8)(*dims)), value


def _array_over(view, owner):
    """The elements of a view, where they are; `owner` keeps them."""
    dims = tuple(view.dims[:view.rank])
    kind = numpy_type(_CODES[view.dtype])
    size = int(numpy.prod(dims, dtype="i8")) * kind.itemsize
    if size == 0:
        return numpy.empty(dims, kind)
    memory = (ctypes.c_char * size).from_address(view.data)
    memory.owner = owner
    return numpy.frombuffer(memory, kind).reshape(dims)


def _optimizer_list(optimizers):
    if isinstance(optimizers, str):
        return [optimizers if "=" in optimizers.split("(")[0] else f"*={optimizers}"]
    if isinstance(optimizers, dict):
        return [f"{pattern}={rule}" for pattern, rule in optimizers.items()]
    return list(optimizers)


# ---- trainers ----

class Trainer:
    """A model in training.

    model: as ingot.compile takes it; or the path of an artifact that trains (*.ingot), which
        has its loss and optimizers.
    loss: "KIND:OUTPUT=LABEL", KIND one of bce, bce_logits, mse, cross_entropy; "sum:OUTPUT".
    optimizers: {pattern of names: rule}, the first that fits counts; or one rule for all.
    accumulate: weights change in each so many steps, by the gradients of all of them.
    clip_norm: bound of the norm of all gradients but those of tables.
    threads: that share a step.
    ranks: a Ranks; every rank makes the same trainer and calls, each with its own batches.
    plan: which rank has what of which table (ingot shard -o plan.json): its path, or a dict;
        without one every rank has all of each.
    division: of gradients, "loss", "all", "dense" or "none" (docs/training.md).

    A step's arguments are the model's inputs and the label, in order or by name.  Of a torch
    module, parameters are changed in place; of others, the trainer has the weights.
    Raises what ingot.compile raises.
    """

    def __init__(self, model, loss=None, optimizers="adam", *, clip_norm=0.0, accumulate=0,
                 example_inputs=None, dynamic_shapes=None, inputs=(), threads=1, ranks=None,
                 plan=None, division="loss", target=None, entry=None, resource=None, cache=None,
                 progress=None):
        self._trainer, self._ranks, self._parts = ctypes.c_void_p(), ranks, None
        self._kept, self._tensors = [], []  # programs; parameters that a step changes
        is_made = isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith(".ingot")
        if is_made != (loss is None):
            raise TypeError("an artifact has its loss" if is_made else
                            "a model is trained by a loss: \"bce_logits:logit=label\"")
        self._source = None
        positions = {}
        if not is_made:
            self._source = _source_of(model, example_inputs, dynamic_shapes, inputs, True)
            self._source.update(target=target, entry=entry, resource=resource, cache=cache)
            self._how = {"loss": loss, "optimizers": _optimizer_list(optimizers),
                         "clip_norm": clip_norm, "accumulate": accumulate,
                         **_ranks_options(ranks, plan, division)}
            self._progress = progress or _tqdm_progress()
            positions = _parameters_of(model)
        self._meet(model)
        self._open(model, positions, threads)
        self._ports = [self._port(i) for i in range(_train().ig_trainer_input_count(self._trainer))]

    def _compile(self, part):
        capsule = _compiler.compile(part=part, progress=self._progress, **self._how,
                                    **self._source)
        self._kept.append(capsule)
        return _pointer_of(capsule, b"ig_program")

    def _meet(self, model):
        """The description says which parts of tables are this rank's."""
        if self._ranks is not None:
            about = (_compiler.describe(**self._how, **self._source) if self._source
                     else _compiler.describe(path=os.fspath(model)))
            self._parts = Parts(about, self._ranks)

    def _open(self, model, positions, threads):
        lib, text = _train(), ctypes.create_string_buffer(512)
        how = _Options(size=ctypes.sizeof(_Options), message_size=len(text), threads=threads,
                       message=ctypes.cast(text, ctypes.c_char_p),
                       ranks=self._ranks.handle() if self._ranks else None)
        if self._source is None:
            status = lib.ig_trainer_open(os.fsencode(model), how,
                                         ctypes.byref(self._trainer))
        else:
            parts = (ctypes.c_void_p * len(_PARTS))(*[self._compile(p) for p in _PARTS])
            status = self._create(parts, how, positions)
        if status:
            raise_error(status, text.value.decode(errors="replace"))

    def _create(self, parts, how, positions):
        """Parameters that the step does not change are no places."""
        lib, step = _train(), parts[0]
        names = [lib.ig_program_output(step, i).name.decode()
                 for i in range(lib.ig_program_output_count(step))]
        kept = {name: positions[name] for name in names[2:] if name in positions}
        self._tensors = list(kept.values())
        self._places = (_Place * len(kept))(*[
            _Place(name.encode(), _view_of(tensor)[0]) for name, tensor in kept.items()])
        how.places, how.place_count = self._places, len(kept)
        return lib.ig_trainer_create(parts, how, ctypes.byref(self._trainer))

    def __del__(self):
        if self._trainer and _library is not None:
            _library.ig_trainer_close(self._trainer)

    def _port(self, index):
        port = _train().ig_trainer_input(self._trainer, index)
        return port.name.decode(), port.type.decode()

    # ---- calls ----

    @property
    def inputs(self):
        """(name, type) of what a step takes; the label is the last, where there is one."""
        return list(self._ports)

    def _arguments(self, args, kwargs, low):
        names = [name for name, _ in self._ports]
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names or name in given:
                raise TypeError(f"'{name}' is not an input, or is given twice; inputs: {names}")
            given[name] = value
        missing = [name for name in names[:low] if name not in given]
        if len(args) > len(names) or missing:
            raise TypeError(f"inputs are {names}" + (f"; missing: {missing}" if missing else ""))
        kept = [_view_of(given[name]) for name in names if name in given]
        return (_View * len(kept))(*[view for view, _ in kept]), kept

    def _raise(self, status):
        text = _train().ig_trainer_error(self._trainer).decode(errors="replace")
        raise_error(status, text or "another call is at work on this trainer")

    def _loss(self, function, args, kwargs):
        views, kept = self._arguments(args, kwargs, len(self._ports))
        loss, output = ctypes.c_double(), _View()
        status = function(self._trainer, views, len(kept), ctypes.byref(loss),
                          ctypes.byref(output))
        if status:
            self._raise(status)
        return loss.value, output

    def step(self, *args, **kwargs):
        """One step; its loss, before it."""
        loss, _ = self._loss(_train().ig_trainer_step, args, kwargs)
        self._bump()
        return loss

    def evaluate(self, *args, **kwargs):
        """(loss, the output that it is of) as weights are; nothing changes."""
        self._look()
        loss, output = self._loss(_train().ig_trainer_evaluate, args, kwargs)
        return loss, _array_over(output, self).copy()

    def predict(self, *args, **kwargs):
        """The model's output as weights are, or a tuple of them; takes no label."""
        lib = _train()
        self._look()
        views, kept = self._arguments(args, kwargs, 0)
        program = lib.ig_trainer_program(self._trainer, _PARTS.index("predict"))
        outputs = (_View * lib.ig_program_output_count(program))()
        status = lib.ig_trainer_predict(self._trainer, views, len(kept), outputs, len(outputs))
        if status:
            self._raise(status)
        results = tuple(_array_over(view, self).copy() for view in outputs)
        return results[0] if len(results) == 1 else results

    # ---- tensors of torch ----

    def _bump(self):
        """torch counts what a step has written."""
        for tensor in self._tensors:
            sys.modules["torch"].autograd.graph.increment_version(tensor)

    def _look(self):
        """Whoever evaluates may have written to the parameters."""
        if self._tensors:
            _train().ig_trainer_changed(self._trainer)

    # ---- what training changes ----

    @property
    def step_count(self):
        return _train().ig_trainer_step_count(self._trainer)

    @step_count.setter
    def step_count(self, count):
        _train().ig_trainer_set_step_count(self._trainer, count)

    def _numbers(self, function):
        data = function(self._trainer)
        count = _train().ig_trainer_group_count(self._trainer)
        numbers = numpy.ctypeslib.as_array(data, (count,))
        return numbers

    @property
    def rates(self):
        """Learning rates by optimizer, to be written to between steps."""
        return self._numbers(_train().ig_trainer_rates)

    @property
    def decays(self):
        """Weight decays by optimizer, to be written to between steps."""
        return self._numbers(_train().ig_trainer_decays)

    def _values(self):
        lib = _train()
        for i in range(lib.ig_trainer_count(self._trainer)):
            value = lib.ig_trainer_get(self._trainer, i)
            yield i, value.name.decode(), value

    @property
    def weights(self):
        """Arrays by name, where they are: the next step changes them.  Of a divided table
        the parts of this rank, "NAME.0" …"""
        return {name: _array_over(value.view, self)
                for _, name, value in self._values() if not value.is_state}

    @property
    def states(self):
        """The same of the optimizers' states: "w.momentum1" of "w"."""
        return {name: _array_over(value.view, self)
                for _, name, value in self._values() if value.is_state}

    def state_dict(self):
        """Copies of weights and states by name, and "step": training goes on from them, on
        any number of ranks.  Every rank is to call it, and gets all tables whole."""
        values = {name: array.copy() for name, array in self._arrays().items()}
        values = self._parts.join(values) if self._parts else values
        return {**values, "step": numpy.int64(self.step_count)}

    def _arrays(self):
        return {**self.weights, **self.states}

    def load_state_dict(self, values):
        """What state_dict gave; all names must be there, and no others."""
        own = {name: i for i, name, _ in self._values()}
        values = self._parts.cut(values, self._arrays()) if self._parts else values
        if set(values) != {*own, "step"}:
            odd = sorted(set(values) ^ {*own, "step"})
            raise ingot_runtime.InvalidError(f"not of this training, or missing: {odd}")
        for name, index in own.items():
            view, _kept = _view_of(values[name])
            status = _train().ig_trainer_set(self._trainer, index, ctypes.byref(view))
            if status:
                self._raise(status)
        self.step_count = int(values["step"])
        self._bump()

    # ---- files ----

    def _need_source(self):
        if self._source is None:
            raise ingot_runtime.InvalidError(
                "this trainer was opened from an artifact, which holds no model")
        return self._source

    def save(self, path):
        """Writes the step as an artifact that trains (Trainer(path), libingot-train): with the
        weights that the model had.  Each rank writes its own."""
        _compiler.compile_file(artifact=os.fspath(path), **self._how, **self._need_source())

    def _trained(self):
        """Weights as (name, value of the interpreter): whole, where ranks have parts."""
        from .values import value_of
        weights = self._parts.join(self.weights) if self._parts else self.weights
        return {"weights": list(weights), "values": [value_of(a) for a in weights.values()]}

    def program(self, threads=1):
        """The model with its trained weights: an ingot.Program."""
        capsule = _compiler.compile(**self._need_source(), **self._trained())
        return Program._from_capsule(capsule, threads)

    def save_model(self, path):
        """The same as an artifact for ingot.load and ingot_runtime; of ranks the first writes
        it."""
        source, trained = self._need_source(), self._trained()
        if self._ranks is None or self._ranks.rank == 0:
            _compiler.compile_file(artifact=os.fspath(path), **source, **trained)


def _ranks_options(ranks, plan, division):
    """What the compiler is told of ranks; a plan of no tables divides none."""
    if division not in DIVISIONS:
        raise TypeError(f"division is one of {list(DIVISIONS)}, not {division!r}")
    if ranks is None:
        if plan is not None:
            raise TypeError("a plan goes with ranks")
        return {}
    if isinstance(plan, (str, os.PathLike)):
        with open(plan, encoding="utf-8") as file:
            plan = file.read()
    else:
        plan = json.dumps(plan or {"world_size": ranks.world, "tables": []})
    return {"plan": plan, "rank": ranks.rank, "division": DIVISIONS[division]}


def _parameters_of(model):
    """Of a torch module, parameters and buffers that a step can change where they are."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module) or isinstance(
            model, torch.jit.ScriptModule):
        return {}
    return {name: p for name, p in [*model.named_parameters(), *model.named_buffers()]
            if p.device.type == "cpu" and p.is_contiguous()}
