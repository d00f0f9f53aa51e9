"""Embedding tables that are larger than memory, for training with torch and TorchRec.

    import ingot.dynamic as tde
    loader, module = tde.wrap("redis://127.0.0.1:6379/?prefix=model", loader, module,
                              {"emb1": config1, "emb2": config2})
    for label, kjt1, kjt2 in loader:
        module(kjt1, kjt2) …
    tde.save(module)

A table of `num_embeddings` rows in memory is a part of one with any 64-bit ids, whose
other rows are in a store (docs/stores.md).  The loader gives batches with the numbers of
rows in place of ids: a thread reads the rows of the next batches, weights and the
optimiser's states alike, while the last one is trained on.

SPDX-License-Identifier: Apache-2.0
"""
import atexit
import collections
import ctypes
import queue
import threading
import weakref

import torch

from ingot_runtime import (CancelledError, FileError, InvalidError, LimitError,  # noqa: F401
                           UnsupportedError)

from ._library import open_library, raise_error

__all__ = ["close", "register_io", "save", "wrap"]

LOOK_AHEAD = 2  # batches, unless num_prefetch says otherwise
_LAST_TIME = (1 << 27) - 1
_KINDS = {"cacheline": 0, "naive": 1}

# ---- libingot-store ----


class _Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("message", ctypes.c_char_p),
                ("message_size", ctypes.c_size_t), ("deadline_ns", ctypes.c_int64),
                ("cancel", ctypes.POINTER(ctypes.c_int))]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("row_count", ctypes.c_int64), ("row_bytes", ctypes.c_size_t),
                ("state_count", ctypes.c_uint32), ("kind", ctypes.c_int),
                ("frequency", ctypes.c_uint32), ("evict_rows", ctypes.c_int64),
                ("is_read_only", ctypes.c_int), ("fill", ctypes.c_void_p),
                ("fill_user", ctypes.c_void_p), ("spare_rows", ctypes.c_int64),
                ("state_bytes", ctypes.POINTER(ctypes.c_size_t)),
                ("memory", ctypes.POINTER(ctypes.c_void_p)),
                ("shard_begin", ctypes.c_int64), ("shard_rows", ctypes.c_int64),
                ("keeps_absent", ctypes.c_int)]


_library = None


def _store():
    global _library
    if _library is None:
        lib = open_library("store")
        pointer, call = ctypes.c_void_p, ctypes.POINTER(_Call)
        lib.ig_store_register.argtypes = [ctypes.c_char_p, call]
        lib.ig_store_open.argtypes = [ctypes.c_char_p, call, ctypes.POINTER(pointer)]
        lib.ig_store_close.argtypes = [pointer]
        lib.ig_dynamic_create.argtypes = [pointer, ctypes.POINTER(_Options), call,
                                          ctypes.POINTER(pointer)]
        lib.ig_dynamic_destroy.argtypes = [pointer]
        lib.ig_dynamic_fetch.argtypes = [pointer, call, ctypes.c_uint32, pointer,
                                         ctypes.c_size_t, pointer]
        lib.ig_dynamic_filled.argtypes = [pointer, ctypes.POINTER(ctypes.c_size_t)]
        lib.ig_dynamic_filled.restype = pointer
        lib.ig_dynamic_release.argtypes = [pointer, ctypes.c_uint32]
        lib.ig_dynamic_halve_times.argtypes = [pointer]
        lib.ig_dynamic_save.argtypes = [pointer, call]
        _library = lib
    return _library


def _call(function, *arguments):
    """Calls function(*arguments), where a _Call stands for the place of the call."""
    text = ctypes.create_string_buffer(512)
    call = _Call(size=ctypes.sizeof(_Call), message_size=len(text),
                 message=ctypes.cast(text, ctypes.c_char_p))
    status = function(*[ctypes.byref(call) if a is _Call else a for a in arguments])
    if status:
        raise_error(status, text.value.decode(errors="replace"))


def register_io(path):
    """Makes the type of a plug-in library known: version 2 of ingot/store.h, or TorchRec's
    five symbols."""
    _call(_store().ig_store_register, str(path).encode(), _Call)


try:  # the name that TorchRec's documentation has
    _operators = torch.library.Library("tde", "FRAGMENT")
    _operators.define("register_io(str path) -> ()")
    _operators.impl("register_io", register_io, "CompositeExplicitAutograd")
except RuntimeError:  # TorchRec's own extension is loaded
    pass


class _Store:
    """An open store: one a URL."""

    _open = weakref.WeakValueDictionary()
    _lock = threading.Lock()

    def __init__(self, url):
        self.handle = ctypes.c_void_p()
        _call(_store().ig_store_open, url.encode(), _Call, ctypes.byref(self.handle))

    def __del__(self):
        if self.handle and _library is not None:
            _library.ig_store_close(self.handle)

    @classmethod
    def of(cls, url):
        with cls._lock:
            store = cls._open.get(url)
            if store is None:
                store = cls._open[url] = cls(url)
            return store


# ---- a table ----

def _local_shards(tensor):
    """(first row, local tensor) of what this rank has of a table."""
    if hasattr(tensor, "local_shards"):
        shards = tensor.local_shards()
        return [(s.metadata.shard_offsets[0], s.tensor) for s in shards]
    if hasattr(tensor, "to_local") and hasattr(tensor, "placements"):
        local = tensor.to_local()
        if hasattr(local, "local_shards"):  # TorchRec's LocalShardsWrapper
            return [(offset[0], shard) for offset, shard
                    in zip(local.local_offsets(), local.local_shards())]
        return [(0, local)] if local.numel() else []
    return [(0, tensor)]


def _rows_of(tensor, what):
    tensor = tensor.data  # without the version that backward compares: others' rows change
    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        raise UnsupportedError(f"{what}: tables are in the host's memory, row by row")
    return tensor


class _Table:
    """One table's rows in memory, over a store."""

    def __init__(self, name, store, config, weight, states, options):
        self.name, self.config, self.store = name, config, store
        shards = _local_shards(weight)
        if len(shards) > 1:
            raise UnsupportedError(f"{name}: a rank has one shard of a table, by rows")
        self.rows = config.num_embeddings
        self.handle = ctypes.c_void_p()
        self.tensors = [_rows_of(shards[0][1], name)] if shards else []
        for state in states if shards else ():
            self.tensors.append(_rows_of(_local_shards(state)[0][1], name))
        self.begin = shards[0][0] if shards else 0
        count = self.tensors[0].shape[0] if shards else 0
        if shards and self.tensors[0].shape[1] != config.embedding_dim:
            raise UnsupportedError(f"{name}: tables that are divided by columns")
        self.initial = [t[:1].clone() for t in self.tensors[1:]]
        self.used = torch.zeros(count, dtype=torch.bool)
        if count:
            self._create(count, options)

    def _create(self, count, options):
        sizes = [t.numel() // count * t.element_size() for t in self.tensors]
        kept = (ctypes.c_size_t * len(sizes))(*sizes)
        memory = (ctypes.c_void_p * len(sizes))(*[t.data_ptr() for t in self.tensors])
        self._kept = kept, memory
        how = _Options(size=ctypes.sizeof(_Options), name=self.name.encode(),
                       row_count=self.rows, row_bytes=sizes[0], state_count=len(sizes),
                       kind=options["kind"], frequency=options["frequency"],
                       evict_rows=options["evict_rows"], state_bytes=kept, memory=memory,
                       shard_begin=self.begin, shard_rows=count, keeps_absent=1)
        _call(_store().ig_dynamic_create, self.store.handle, ctypes.byref(how), _Call,
              ctypes.byref(self.handle))

    def __del__(self):
        if getattr(self, "handle", None) and _library is not None:
            _library.ig_dynamic_destroy(self.handle)

    def close(self):
        """Ends the table, and its store where no other table has that."""
        handle, self.handle = self.handle, None
        if handle:
            _store().ig_dynamic_destroy(handle)
        self.store = None  # which the table used until now

    def fetch(self, ids, time):
        """The rows of these ids, which are in memory from now on."""
        rows = torch.empty_like(ids)
        _call(_store().ig_dynamic_fetch, self.handle, _Call, time, ids.data_ptr(),
              ids.numel(), rows.data_ptr())
        self._begin_rows()
        mine = rows - self.begin
        self.used[mine[(mine >= 0) & (mine < len(self.used))]] = True
        return rows

    def _begin_rows(self):
        """Rows of new ids that another id had begin anew; all others are as the model
        made them."""
        count = ctypes.c_size_t()
        filled = _store().ig_dynamic_filled(self.handle, ctypes.byref(count))
        if not count.value:
            return
        pairs = (ctypes.c_int64 * (2 * count.value)).from_address(filled)
        rows = torch.tensor(pairs[1::2], dtype=torch.int64) - self.begin
        rows = rows[self.used[rows]]
        if not len(rows):
            return
        with torch.no_grad():
            self.tensors[0][rows] = self._fresh_rows(len(rows))
            for state, initial in zip(self.tensors[1:], self.initial):
                state[rows] = initial

    def _fresh_rows(self, count):
        fresh = torch.empty(count, self.config.embedding_dim, dtype=self.tensors[0].dtype)
        init = getattr(self.config, "init_fn", None)
        if init is not None:
            init(fresh)
            return fresh
        low, high = (getattr(self.config, f"get_weight_init_{end}", None)
                     for end in ("min", "max"))
        bound = self.rows ** -0.5
        return fresh.uniform_(low() if low else -bound, high() if high else bound)

    def release(self, time):
        _store().ig_dynamic_release(self.handle, time)

    def halve_times(self):
        _store().ig_dynamic_halve_times(self.handle)

    def save(self):
        _call(_store().ig_dynamic_save, self.handle, _Call)


# ---- weights and optimisers' states of a module ----

def _weights_of(module, path, name):
    """The weight of table `name` of the module at `path`, and its key."""
    state = module.state_dict()
    prefix = f"{path}." if path else ""
    for key in (f"{prefix}embeddings.{name}.weight", f"{prefix}embedding_bags.{name}.weight",
                f"{prefix}{name}.weight", f"{prefix}weight"):
        if key in state:
            return key, state[key]
    raise InvalidError(f"the module has no table '{name}' at '{path}'")


def _is_tensor(value):
    return hasattr(value, "local_shards") or (torch.is_tensor(value) and value.dim() > 0)


def _fused_states(module, key):
    optimizer = getattr(module, "fused_optimizer", None)
    states = optimizer.state_dict()["state"].get(key, {}) if optimizer else {}
    tensors = {name: value for name, value in states.items()
               if _is_tensor(value)}
    return [tensors[name] for name in sorted(tensors)]


def _begin_states(optimizer, parameter):
    """States that torch's optimisers make at their first step are made here: rows are
    read into them before it."""
    tiny = torch.nn.Parameter(torch.zeros_like(parameter[:1]))
    group = next(g for g in optimizer.param_groups
                 if any(p is parameter for p in g["params"]))
    options = {k: v for k, v in group.items() if k in optimizer.defaults}
    other = type(optimizer)([tiny], **options)
    indices = torch.zeros(1, 1, dtype=torch.int64)
    for grad in (torch.sparse_coo_tensor(indices, torch.zeros_like(tiny), tiny.shape,
                                         check_invariants=False),
                 torch.zeros_like(tiny)):
        tiny.grad = grad
        try:
            other.step()
            break
        except RuntimeError:  # this optimiser takes the other kind of gradient
            other.state.clear()
    for name, value in other.state[tiny].items():
        is_rows = torch.is_tensor(value) and value.shape == tiny.shape
        optimizer.state[parameter][name] = (
            torch.zeros_like(parameter, memory_format=torch.contiguous_format) if is_rows
            else torch.zeros_like(value) if torch.is_tensor(value) else type(value)())


def _torch_states(optimizer, parameter):
    if not any(p is parameter for g in optimizer.param_groups for p in g["params"]):
        return []
    if not optimizer.state.get(parameter):
        _begin_states(optimizer, parameter)
    state = optimizer.state[parameter]
    return [state[name] for name in sorted(state) if torch.is_tensor(state[name])
            and state[name].shape[:1] == parameter.shape[:1] and state[name].dim() > 0]


def _states_of(module, optimizer, key):
    if optimizer is None:
        return _fused_states(module, key)
    parameter = dict(module.named_parameters()).get(key)
    return [] if parameter is None else _torch_states(optimizer, parameter)


# ---- ids of a batch ----

class _Module:
    """The tables of one module, by the features that look them up."""

    def __init__(self, path, tables):
        self.path, self.tables = path, tables
        self.by_feature = {}
        for table in tables:
            for feature in table.config.feature_names:
                if feature in self.by_feature:
                    raise InvalidError(f"{path}: two tables have the feature '{feature}'")
                self.by_feature[feature] = table

    def gather(self, kjt):
        """Ids by table, in order of the features."""
        ids = collections.defaultdict(list)
        bounds = kjt.offset_per_key()
        for index, key in enumerate(kjt.keys()):
            table = self.by_feature.get(key)
            if table is None:
                raise InvalidError(f"{self.path}: no table has the feature '{key}'")
            ids[table].append((bounds[index], bounds[index + 1]))
        return ids

    def transform(self, kjt, fetch):
        values = kjt.values()
        rows = values.to(torch.int64, copy=True)
        for table, spans in self.gather(kjt).items():
            wanted = torch.cat([rows[a:b] for a, b in spans]).contiguous()
            got = fetch(table, wanted)
            at = 0
            for a, b in spans:
                rows[a:b] = got[at:at + b - a]
                at += b - a
        return type(kjt)(keys=kjt.keys(), values=rows.to(values.dtype),
                         weights=kjt.weights_or_none(), lengths=kjt.lengths_or_none(),
                         offsets=kjt.offsets_or_none(), stride=kjt.stride())


def _is_kjt(value):
    return hasattr(value, "offset_per_key") and hasattr(value, "weights_or_none")


# ---- the loader ----

class _Ranks:
    """What ranks tell each other so that all of them give the same rows to the same ids:
    all ids of a batch, and up to which batch everybody is done."""

    def __init__(self):
        self.group = None
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            if torch.distributed.get_world_size() > 1:
                self.group = torch.distributed.new_group(backend="gloo")
        self.size = torch.distributed.get_world_size(self.group) if self.group else 1
        self.rank = torch.distributed.get_rank(self.group) if self.group else 0

    def gather(self, value):
        if not self.group:
            return [value]
        out = [None] * self.size
        torch.distributed.all_gather_object(out, value, group=self.group)
        return out


class _Loader:
    """Batches with rows in place of ids."""

    def __init__(self, source, modules, data_info, depth, parallel):
        self.source, self.modules, self.depth = source, modules, depth
        self.data_info, self.parallel = data_info, parallel
        self.tables = [table for m in modules for table in m.tables]
        self.lock = threading.Lock()  # of the tables
        self.done = threading.Condition()
        self.ranks = _Ranks()
        self.time = self.released = 0
        self.is_closed = False

    def __len__(self):
        return len(self.source)

    def __iter__(self):
        self.is_closed = False
        batches = self._run_ahead() if self.parallel else self._transform_all()
        try:
            for time, batch in batches:
                yield batch
                self._release(time)
        finally:
            self.is_closed = True
            batches.close()
            self._release(self.time)

    def _transform_all(self):
        for batch in self.source:
            yield self._transform(batch)

    def _run_ahead(self):
        """A bounded queue, which is drained at the end."""
        line = queue.Queue(self.depth)
        is_over = threading.Event()

        def put(item):
            while not is_over.is_set():
                try:
                    return line.put(item, timeout=0.1)
                except queue.Full:
                    pass

        def work():
            try:
                for batch in self.source:
                    if is_over.is_set():
                        return
                    put((self._transform(batch, is_over), None))
                put((None, None))
            except BaseException as error:  # noqa: B036  raised where batches are taken
                put((None, error))

        thread = threading.Thread(target=work, name="ingot.dynamic", daemon=True)
        thread.start()
        try:
            while True:
                item, error = line.get()
                if error is not None:
                    raise error
                if item is None:
                    return
                yield item
        finally:
            is_over.set()
            with self.done:
                self.done.notify_all()
            thread.join()

    def _release(self, time):
        with self.done:
            self.released = max(self.released, time)
            self.done.notify_all()

    def _fetch(self, table, ids, time, is_over):
        """Waits where batches that are being trained on have all rows."""
        if table.handle is None:
            raise InvalidError(f"{table.name}: the table was closed")
        everybody = self.ranks.gather((ids, self.released))
        done = min(released for _, released in everybody)
        begin = sum(len(other) for other, _ in everybody[:self.ranks.rank])
        whole = torch.cat([other for other, _ in everybody]).contiguous()
        while True:
            if done:
                table.release(done)
            try:
                with self.lock:
                    rows = table.fetch(whole, time)
                return rows[begin:begin + len(ids)]
            except LimitError:
                if done >= time - 1:  # of all ranks, as the fetch that failed knew it
                    raise
            with self.done:
                self.done.wait_for(lambda: self.released > done or (
                    is_over is not None and is_over.is_set()), timeout=1)
            if is_over is not None and is_over.is_set():
                raise CancelledError("the loader was closed")
            done = min(self.ranks.gather(self.released))

    def close(self):
        with self.lock:
            for table in self.tables:
                table.close()

    def _begin_batch(self):
        if self.time == _LAST_TIME:
            with self.done:
                self.done.wait_for(lambda: self.released >= self.time or self.is_closed)
                for table in self.tables:
                    table.release(self.time)
                    table.halve_times()
                self.time //= 2
                self.released = self.time
        self.time += 1
        return self.time

    def _transform(self, batch, is_over=None):
        time = self._begin_batch()
        items = list(batch) if isinstance(batch, (tuple, list)) else [batch]
        indices = [i for i, item in enumerate(items) if _is_kjt(item)]
        if self.data_info is not None:
            of = {m.path: m for m in self.modules}
            pairs = [(i, of[path]) for i, path in sorted(self.data_info.items())]
        else:
            pairs = list(zip(indices, self.modules))
            if len(indices) != len(self.modules):
                raise InvalidError(
                    f"a batch has {len(indices)} KeyedJaggedTensors and {len(self.modules)} "
                    "modules were named: give the module of each in data_info")
        for i, module in pairs:
            items[i] = module.transform(
                items[i], lambda table, ids: self._fetch(table, ids, time, is_over))
        if not isinstance(batch, (tuple, list)):
            return time, items[0]
        is_named = hasattr(batch, "_fields")
        return time, type(batch)(*items) if is_named else type(batch)(items)


# ---- public ----

def wrap(url, dataloader, module, configs_dict, *, data_info=None, eviction_config=None,
         transform_config=None, ps_config=None, parallel=True, num_prefetch=0,
         optimizer=None):
    """Makes tables of a module a part of larger ones, which lie in stores.

    `url`: of the store, or a function of (path, table).  `configs_dict`: by the path of a
    module in `module`, the configs of its tables.  `data_info`: by the place of a
    KeyedJaggedTensor in a batch, whose path it is of (those of a batch, in order).
    `eviction_config`: {"type": "mixed_lru_lfu", "min_used_freq_power": 5, "evict_rows": N}.
    `transform_config`: {"type": "cacheline" or "naive"}.  `num_prefetch`: batches that are
    fetched ahead (0: two).  `optimizer`: torch's, which trains the tables, where they have
    none that is fused into them; it must change rows of the batch alone (sparse gradients).
    Returns the loader and the module.
    """
    eviction, transform = eviction_config or {}, transform_config or {}
    options = {"kind": _KINDS.get(transform.get("type", "cacheline"), 0),
               "frequency": eviction.get("min_used_freq_power", 5),
               "evict_rows": eviction.get("evict_rows", 0)}
    modules = []
    for path, configs in configs_dict.items():
        tables = []
        for config in configs:
            key, weight = _weights_of(module, path, config.name)
            states = _states_of(module, optimizer, key)
            where = url(path, config.name) if callable(url) else url
            tables.append(_Table(f"{path}.{config.name}", _Store.of(where), config, weight,
                                 states, options))
        modules.append(_Module(path, tables))
    loader = _Loader(dataloader, modules, data_info, num_prefetch or LOOK_AHEAD, parallel)
    _loaders.setdefault(module, []).append(loader)
    return loader, module


_loaders = weakref.WeakKeyDictionary()


def save(module):
    """Writes the rows that were used since the last save, their states too."""
    if module not in _loaders:
        raise InvalidError("the module was not wrapped")
    for loader in _loaders[module]:
        with loader.lock:
            for table in loader.tables:
                table.save()


def close(module):
    """Ends what `wrap` began: its tables and, where nothing else uses them, its stores, whose
    plug-ins hear of it (IO_Finalize).  Rows that are not saved stay in memory alone.  What is
    left open is closed as the program ends."""
    for loader in _loaders.pop(module, ()):
        loader.close()


@atexit.register
def _close_all():
    for module in list(_loaders):
        close(module)
