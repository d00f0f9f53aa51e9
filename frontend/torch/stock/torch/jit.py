"""torch.jit of code that is not scripted.  SPDX-License-Identifier: Apache-2.0"""


def script(obj, *args, **kwargs):
    return obj


script_if_tracing = interface = export = _overload_method = _overload = script


def ignore(function=None, **how):
    return (lambda decorated: decorated) if function is None else function


unused = ignore


def annotate(the_type, value):
    return value


def is_scripting():
    return False


def is_tracing():
    return False
