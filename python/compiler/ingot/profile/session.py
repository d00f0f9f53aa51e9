"""Sessions: a list of backends, and what measures graphs on them.

SPDX-License-Identifier: Apache-2.0
"""
import abc
import dataclasses
import importlib.util
import os
import sys
import time

from .spec import BackendSpec


class InferenceError(RuntimeError):
    """A backend could not load or run a graph."""


@dataclasses.dataclass
class Outcome:
    """What a backend made of one call of a graph."""

    times_ns: list = dataclasses.field(default_factory=list)  # one of each repeat
    results: list | None = None      # tensors, of the first repeat
    error: str | None = None         # instead of times and results
    memory_bytes: int = 0     # by which loading and the first run let this process grow


class Connection(abc.ABC):
    """Measures graphs on backends of one kind of place: this process, or a machine
    elsewhere.  A graph is loaded once for each backend, with the first inputs."""

    @abc.abstractmethod
    def supported(self):
        """{name of a backend: packages that must be installed first}."""

    @abc.abstractmethod
    def check(self, spec):
        """ValueError where it names no backend of this connection, or a wrong option."""

    def open(self, specs):
        """Before the first graph: those that will be asked for.  May wait for a machine."""

    def close(self):
        """Gives the machine back."""

    @abc.abstractmethod
    def run(self, graph, inputs, specs, warmups, repeats):
        """{spec: Outcome} of a call with `inputs` (torch's tensors and numbers)."""

    @abc.abstractmethod
    def forget(self, graphs):
        """Frees what was loaded for them."""


def _resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _words_of(error):
    """Its first paragraph: torch's go on about where to ask."""
    text = str(error).strip().split("\n\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class LocalConnection(Connection):
    """Backends in this process: one after the other, a repeat of each in turn, so that
    what disturbs the machine disturbs all of them."""

    def __init__(self):
        # (graph, spec, what it holds): an engine, or the words why there is none; and the
        # inputs, whose identity the key says
        self.loaded = {}

    def supported(self):
        from .engines import ENGINES
        return {f"local/{name}": engine.missing() for name, engine in ENGINES.items()}

    def check(self, spec):
        from .engines import ENGINES, thread_count
        if spec.software not in ENGINES:
            raise ValueError(f"'{spec}' is not supported; there are: "
                             f"{', '.join(self.supported())}")
        missing = ENGINES[spec.software].missing()
        if missing:
            raise ValueError(f"'{spec}' is not available: pip install {' '.join(missing)}")
        thread_count(spec)

    def _engine(self, graph, spec, inputs):
        from .engines import ENGINES, thread_count, torch_threads
        key = (graph, spec, graph.held(inputs))
        if key not in self.loaded:
            threads = thread_count(spec)
            try:
                with torch_threads(threads):
                    engine = ENGINES[spec.software](graph, inputs, threads)
            except Exception as error:  # noqa: BLE001: each backend fails by its own kinds
                engine = f"could not be loaded: {_words_of(error)}"
            self.loaded[key] = engine, [inputs[i] for i in graph.static]
        return self.loaded[key][0]

    def _begin(self, graph, spec, inputs, warmups):
        """An Outcome, the engine, and what is to be timed."""
        from .engines import ENGINES, torch_threads
        ENGINES[spec.software].import_packages()  # their memory is not the graph's
        outcome, before = Outcome(), _resident_bytes()
        engine = self._engine(graph, spec, inputs)
        if isinstance(engine, str):
            outcome.error = engine
            return outcome, None, None
        own = list(inputs)
        for holder in graph.changed or ():
            own[holder] = own[holder].clone()
        try:
            run = engine.prepare(own)
            with torch_threads(engine.threads):
                outcome.results = [t.clone() for t in engine.tensors(run())]
                for _ in range(warmups - 1):
                    run()
        except Exception as error:  # noqa: BLE001
            outcome.error = _words_of(error)
            return outcome, None, None
        outcome.memory_bytes = max(_resident_bytes() - before, 0)
        return outcome, engine, run

    def run(self, graph, inputs, specs, warmups, repeats):
        from .engines import torch_threads
        begun = {spec: self._begin(graph, spec, inputs, warmups) for spec in specs}
        for _ in range(repeats):
            for outcome, engine, call in begun.values():
                if outcome.error:
                    continue
                try:
                    with torch_threads(engine.threads):
                        begin = time.perf_counter_ns()
                        call()
                        outcome.times_ns.append(time.perf_counter_ns() - begin)
                except Exception as error:  # noqa: BLE001
                    outcome.error, outcome.times_ns = _words_of(error), []
        return {spec: outcome for spec, (outcome, _, _) in begun.items()}

    def forget(self, graphs):
        gone = set(graphs)
        self.loaded = {key: value for key, value in self.loaded.items()
                       if key[0] not in gone}


class RemoteInferenceSession:
    """Backends on which graphs are measured.

    backends: names, or one name, as "local/ingot-cpu"; options in brackets:
        "local/ingot-cpu[threads=2]", without which torch.get_num_threads() counts.  None:
        ingot, onnxruntime and torch in this process, as far as they are installed.

    server_addr: "host:port" of an `ingot worker`, whose backends are then there, too, and
        whose preset "default" counts where `backends` is None; None: INGOT_PROFILE_SERVER.
    insecure: without TLS; None: where the address is this machine.
    access_token: whose session it is; None: INGOT_PROFILE_TOKEN.

    The worker's machine is asked for when the session is first used, and may have to be
    waited for.  Raises ValueError for what names no backend, and where the worker is out of
    reach.
    """

    def __init__(self, backends=None, server_addr=None, insecure=None, access_token=None):
        self._connections = {"local": LocalConnection()}
        remote = _reach(server_addr, insecure, access_token)
        if remote is not None:
            self._connections.update(dict.fromkeys(remote.hardware(), remote))
        if backends is None:
            backends = remote.defaults() if remote else get_default_backends()
        names = backends
        names = [names] if isinstance(names, (str, BackendSpec)) else list(names)
        self._specs = [BackendSpec.parse(name) for name in names]
        if not self._specs:
            raise ValueError("a session has one backend or more")
        for spec in self._specs:
            if spec.hardware in self._connections:
                self._connections[spec.hardware].check(spec)
        self._is_closed = False

    @property
    def backends(self):
        return [str(spec) for spec in self._specs]

    @property
    def specs(self):
        return list(self._specs)

    def connect(self):
        """Called before the first graph.  ValueError: a machine is out of reach."""
        if self._is_closed:
            raise ValueError("the session was closed")
        for spec in self._specs:
            if spec.hardware not in self._connections:
                raise ValueError(f"'{spec}': no machine '{spec.hardware}' is in reach; "
                                 f"there are: {', '.join(get_supported_backends())}")
        for hardware, connection in self._connections.items():
            connection.open([s for s in self._specs if s.hardware == hardware])

    def run(self, graph, inputs, warmups, repeats):
        """{spec: Outcome} in the order of the backends."""
        outcomes = {}
        for hardware, connection in self._connections.items():
            specs = [s for s in self._specs if s.hardware == hardware]
            if not specs:
                continue
            outcomes.update(connection.run(graph, inputs, specs, warmups, repeats))
        return {spec: outcomes[spec] for spec in self._specs}

    def forget(self, graphs):
        for connection in self._connections.values():
            connection.forget(graphs)

    def print_supported_backends(self, file=None):
        print_supported_backends(file)

    def close(self):
        for connection in self._connections.values():
            connection.close()
        self._is_closed, self._connections = True, {}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def _reach(server_addr, insecure, access_token):
    """The worker's connection; None: none is named."""
    address = server_addr or os.environ.get("INGOT_PROFILE_SERVER")
    if not address:
        return None
    missing = [name for name, module in (("grpcio", "grpc"), ("protobuf", "google.protobuf"))
               if importlib.util.find_spec(module.partition(".")[0]) is None]
    if missing:
        raise ValueError(f"server_addr '{address}' needs {' and '.join(missing)}: "
                         "pip install 'ingot[remote]'")
    from .remote import RemoteConnection
    return RemoteConnection(address, insecure,
                            access_token or os.environ.get("INGOT_PROFILE_TOKEN"))


def get_supported_backends(server_addr=None, insecure=None, access_token=None):
    """Names of the backends that can be used here, and on the worker, if one is named."""
    remote = _reach(server_addr, insecure, access_token)
    names = [n for n, missing in LocalConnection().supported().items() if not missing]
    if remote is not None:
        names += remote.supported()
        remote.close()
    return names


def get_default_backends(server_addr=None, insecure=None, access_token=None):
    """Those of a session without backends."""
    from .engines import DEFAULTS
    remote = _reach(server_addr, insecure, access_token)
    if remote is not None:
        names = remote.defaults()
        remote.close()
        return names
    usable = get_supported_backends()
    return [f"local/{name}" for name in DEFAULTS if f"local/{name}" in usable]


def print_supported_backends(file=None):
    """A line for each backend; how to install those that are not there."""
    file = sys.stdout if file is None else file
    supported = LocalConnection().supported()
    width = max(map(len, supported))
    for name, missing in supported.items():
        state = f"not available: pip install {' '.join(missing)}" if missing else "available"
        print(f"{name:{width}}  {state}", file=file)
