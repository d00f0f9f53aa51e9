"""nn.Module: what pickles build and forwards call.

SPDX-License-Identifier: Apache-2.0
"""
import collections

from ..parameter import Parameter

_TABLES = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")


class Module:
    training = True
    _options = None  # of one of torch's layers: what code may make it with

    def __init__(self, *args, **kwargs):
        self.__dict__.update({name: {} for name in _TABLES}, training=True,
                             _non_persistent_buffers_set=set())
        if args or kwargs or self._options:
            self.__dict__.update(self._read_options(args, kwargs))

    def _read_options(self, args, kwargs):
        name, options = type(self).__name__, self._options
        if options is None:
            raise NotImplementedError(
                f"nn.{name}(…) draws its weights at random, which would not be torch's: load it "
                "from a package or a pickle")
        if len(args) > len(options):
            raise TypeError(f"nn.{name} takes {len(options)} arguments")
        for key in kwargs:
            if key not in options:
                raise TypeError(f"nn.{name} has no argument '{key}'")
        return {**options, **dict(zip(options, args)), **kwargs}

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args, **kwargs):
        own = self.__dict__
        if any(own.get(name) for name in _HOOKS):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args, kwargs):
        own = self.__dict__
        if own.get("_forward_hooks_with_kwargs") or own.get("_forward_pre_hooks_with_kwargs"):
            raise NotImplementedError("hooks that take keyword arguments")
        for hook in list(own.get("_forward_pre_hooks", {}).values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(own.get("_forward_hooks", {}).values()):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    # ---- attributes ----

    def __getattr__(self, name):
        own = self.__dict__
        for table in _TABLES:
            if name in own.get(table, ()):
                return own[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        own = self.__dict__
        table = ("_parameters" if isinstance(value, Parameter) else
                 "_modules" if isinstance(value, Module) else
                 next((t for t in _TABLES if name in own.get(t, ())), None))
        if table is None:
            object.__setattr__(self, name, value)
            return
        if table not in own:
            raise AttributeError("cannot assign parts before Module.__init__() call")
        for other in _TABLES:
            own[other].pop(name, None)
        own.pop(name, None)
        own[table][name] = value

    def __delattr__(self, name):
        for table in _TABLES:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return [*object.__dir__(self), *(n for t in _TABLES for n in self.__dict__.get(t, ()))]

    def register_buffer(self, name, tensor, persistent=True):
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        self._parameters[name] = param

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target):
        found = self
        for name in target.split(".") if target else ():
            found = getattr(found, name)
        return found

    # ---- lists ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name,
                                                remove_duplicate)

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_children(self):
        return ((n, m) for n, m in self._modules.items() if m is not None)

    def children(self):
        return (m for _, m in self.named_children())

    def _named(self, table, prefix, recurse):
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in module.__dict__[table].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse=True):
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse=True):
        return (b for _, b in self.named_buffers(recurse=recurse))

    def state_dict(self, prefix=""):
        out = collections.OrderedDict()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=False):
            hidden = module.__dict__.get("_non_persistent_buffers_set", ())
            for name, value in {**module._parameters, **module._buffers}.items():
                if value is not None and name not in hidden:
                    out[f"{path}.{name}" if path else name] = value
        return out

    # ---- modes ----

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):  # noqa: A003
        return self.train(False)

    def apply(self, function):
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def requires_grad_(self, requires_grad=True):
        return self

    def cpu(self):
        return self

    def to(self, *args, **kwargs):
        if kwargs or any(str(a).partition(":")[0] != "cpu" for a in args):
            raise NotImplementedError(f"{type(self).__name__}.to: only to the host's memory")
        return self

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = [f"  ({name}): " + repr(module).replace("\n", "\n  ")
                 for name, module in self._modules.items()]
        inside = "\n" + "\n".join(lines) + "\n" if lines else self.extra_repr()
        return f"{self._get_name()}({inside})"
