"""accelerate, and the two contexts in which what it wraps is measured or run elsewhere.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import functools
import logging
import sys
import threading

import torch

from .graph import Graph
from .record import GraphSegment, Recorder
from .report import Report, read_prices
from .session import InferenceError, RemoteInferenceSession

log = logging.getLogger("ingot")
_state = threading.local()


def _context():
    return getattr(_state, "context", None)


class Context:
    """One use of remote_profile or remote_inference."""

    def __init__(self, session, repeats, warmups, is_profile):
        self.session, self.repeats, self.warmups = session, repeats, warmups
        self.is_profile, self.recorders, self.running = is_profile, {}, None
        self.compiled, self.graphs = {}, []

    def compile(self, function, dynamic):
        """By dynamo, for this context; `function` is what the user wrote."""
        if function not in self.compiled:
            def backend(module, unused_inputs):
                return self._take_graph(module)
            self.compiled[function] = torch.compile(function, backend=backend,
                                                    dynamic=dynamic)
        return self.compiled[function]

    def _take_graph(self, module):
        results = next(n for n in module.graph.nodes if n.op == "output").args[0]
        recorder = self.running
        if not results or recorder is None:
            return module.forward
        graph = Graph(len(recorder.graphs) + 1, module)
        recorder.graphs.append(graph)
        recorder.was_compiled = True
        self.graphs.append(graph)
        return functools.partial(self._call_graph, graph)

    def _call_graph(self, graph, *inputs):
        if self.running is None or not self.running.is_running:
            return graph.module(*inputs)
        if not self.is_profile:
            return self._infer(graph, inputs)
        with self.running.paused():
            expected, before = graph.run_eagerly(inputs)
            outcomes = self.session.run(graph, before, self.warmups, self.repeats)
            self.running.add(GraphSegment.of(graph.number, outcomes, expected,
                                             self.repeats))
        self._tell_failures(graph, outcomes)
        return expected

    def _tell_failures(self, graph, outcomes):
        for spec, outcome in outcomes.items():
            if outcome.error and (graph.number, spec) not in self.running.reported:
                self.running.reported.add((graph.number, spec))
                log.warning("%s: graph #%d on %s: %s", self.running.name, graph.number,
                            spec, outcome.error)

    def _infer(self, graph, inputs):
        """The backend's results in the place of eager's."""
        expected, before = None, inputs
        if graph.changed is None or graph.changed:
            expected, before = graph.run_eagerly(inputs)
            graph.result_types = [type(r) for r in expected]
        (spec, outcome), = self.session.run(graph, before, 1, 0).items()
        if outcome.error:
            raise InferenceError(f"graph #{graph.number} on {spec}: {outcome.error}")
        return [r if issubclass(kind, torch.Tensor) else kind(r.item())
                for r, kind in zip(outcome.results, graph.result_types)]

    def call(self, function, dynamic, name, args, kwargs):
        compiled = self.compile(function, dynamic)
        if self.running is not None:  # inside of another accelerated function
            return compiled(*args, **kwargs)
        if function not in self.recorders:
            self.recorders[function] = Recorder(name)
        recorder = self.running = self.recorders[function]
        recorder.begin()
        try:
            result = compiled(*args, **kwargs)
            recorder.end()
            return result
        except BaseException:
            recorder.abandon()
            raise
        finally:
            self.running = None


class ProfileHandle:
    """What `with remote_profile() as handle` gives."""

    def __init__(self, context, prices, tolerance):
        self._context, self._prices, self._tolerance = context, prices, tolerance

    def report(self):
        """The Report of all that ran until now."""
        return Report.of(self._context, self._prices, self._tolerance)


# ---- what users call ----

def _local_function(function, backend, dynamic):
    """Compiled for this process, as torch.compile does."""
    if backend == "ingot":
        import ingot.dynamo  # noqa: F401: it tells torch of the backend
    return torch.compile(function, backend=backend, dynamic=dynamic)


def _wrap(function, name, dynamic, local_backend):
    if hasattr(function, "_ingot_accelerated") or hasattr(function,
                                                          "_torchdynamo_orig_callable"):
        raise TypeError(f"{name} is accelerated or compiled already")
    local = []

    @functools.wraps(function)
    def accelerated(*args, **kwargs):
        if torch.compiler.is_compiling():  # part of another function's graph
            return function(*args, **kwargs)
        context = _context()
        if context is not None:
            return context.call(function, dynamic, name, args, kwargs)
        if not local:
            local.append(_local_function(function, local_backend, dynamic))
        return local[0](*args, **kwargs)

    accelerated._ingot_accelerated = True
    return accelerated


def accelerate(function=None, *, dynamic=False, local_backend="ingot"):
    """Makes a function, or an nn.Module's forward, one that remote_profile measures.

    Use it as @accelerate, @accelerate(dynamic=True) or predict = accelerate(model); a module
    is given back itself.  Outside of remote_profile and remote_inference the function is
    compiled by torch.compile with `local_backend`.  dynamic: open extents, one graph for
    several batch sizes, as torch.compile takes it.  Raises TypeError for what was
    accelerated or compiled before.
    """
    if function is None:
        return functools.partial(accelerate, dynamic=dynamic, local_backend=local_backend)
    if isinstance(function, torch.nn.Module):
        function.forward = _wrap(function.forward, type(function).__name__, dynamic,
                                 local_backend)
        return function
    if not callable(function):
        raise TypeError(f"accelerate takes a function or a module, not "
                        f"{type(function).__name__}")
    return _wrap(function, getattr(function, "__name__", "function"), dynamic, local_backend)


@contextlib.contextmanager
def _entered(context):
    if _context() is not None:
        raise RuntimeError("remote_profile and remote_inference do not nest")
    context.session.connect()
    torch._dynamo.reset()  # what was compiled without a session is compiled anew
    _state.context = context
    try:
        # Python's floats (eps, scales) are constants of a graph, and no inputs of it.
        with torch.no_grad(), torch._dynamo.config.patch(specialize_float=True):
            yield
    finally:
        _state.context = None
        context.session.forget(context.graphs)


def _session_of(session, options):
    """A session, and whether it is to be closed."""
    given = {name: value for name, value in options.items() if value is not None}
    if session is None:
        return RemoteInferenceSession(**given), True
    if given:
        raise ValueError(f"give a session, or {', '.join(given)} for one, not both")
    return session, False


@contextlib.contextmanager
def remote_profile(session=None, *, backends=None, server_addr=None, insecure=None,
                   access_token=None, num_repeats=10, num_warmups=1,
                   print_results_to=sys.stdout, prices=None, tolerance=1e-3):
    """Inside, each call of an accelerated function is measured on the session's backends.

    session: a RemoteInferenceSession; None: one of `backends`, `server_addr`, `insecure`
        and `access_token`, which is closed at the end.
    num_repeats: times that each graph is run on each backend, in each call.
    num_warmups: runs before these that do not count; the first one is compared with eager.
    print_results_to: where the table goes at the end; None: nowhere.
    prices: dollars an hour of each hardware: a dict, or a file {"local": 0.1} of JSON;
        None: the file that INGOT_PRICES names, else public ones of a few instances.
    tolerance: a backend whose |result - eager's| / max(1, |eager's|) is larger is told.

    Gives a ProfileHandle.  Gradients are disabled inside.  Raises ValueError for sessions
    that cannot be used, RuntimeError when nested.
    """
    if num_repeats < 1 or num_warmups < 0:
        raise ValueError("num_repeats is 1 or more, num_warmups 0 or more")
    known_prices = read_prices(prices)
    session, is_own = _session_of(session, {
        "backends": backends, "server_addr": server_addr, "insecure": insecure,
        "access_token": access_token})
    context = Context(session, num_repeats, num_warmups, True)
    handle = ProfileHandle(context, known_prices, tolerance)
    try:
        with _entered(context):
            yield handle
        if print_results_to is not None:
            handle.report().print(file=print_results_to)
    finally:
        if is_own:
            session.close()


@contextlib.contextmanager
def remote_inference(session=None, *, backend=None, server_addr=None, insecure=None,
                     access_token=None):
    """Inside, graphs of accelerated functions run on the one backend of the session, and
    its results are used.  Raises InferenceError where it fails."""
    session, is_own = _session_of(session, {
        "backends": backend, "server_addr": server_addr, "insecure": insecure,
        "access_token": access_token})
    try:
        if len(session.backends) != 1:
            raise ValueError("remote_inference takes one backend, not "
                             f"{', '.join(session.backends)}")
        with _entered(Context(session, 0, 1, False)):
            yield session
    finally:
        if is_own:
            session.close()
