"""Type stubs say what is there: names, and parameters where Python can tell them.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import importlib
import inspect
import pathlib
import pydoc
import unittest

import ingot
import ingot_runtime

try:
    import torch
except ImportError:
    torch = None


def parameters_of(function):
    args = function.args
    names = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]
    names += [a.arg for a in (args.vararg, args.kwarg) if a]
    return sorted(names)


class Stubs(unittest.TestCase):
    def check_function(self, node, owner, where):
        self.assertTrue(hasattr(owner, node.name), f"{where} has no {node.name}")
        there = getattr(owner, node.name)
        decorators = [getattr(d, "id", "") for d in node.decorator_list]
        if "property" in decorators or "overload" in decorators or node.name == "__new__":
            return
        try:
            names = sorted(inspect.signature(there).parameters)
        except ValueError:  # of C
            return
        given = [n for n in parameters_of(node) if n not in ("self", "cls")]
        self.assertEqual([n for n in names if n not in ("self", "cls")], given,
                         f"{where}.{node.name}")

    def check(self, path, name):
        module = importlib.import_module(name)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                self.check_function(node, module, name)
            elif isinstance(node, ast.ClassDef):
                owner = getattr(module, node.name)
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef) and inner.name != "__buffer__":
                        self.check_function(inner, owner, f"{name}.{node.name}")
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.assertTrue(not alias.asname or hasattr(module, alias.asname), alias.name)

    def test_they_say_what_is_there(self):
        for package in (ingot, ingot_runtime):
            folder = pathlib.Path(package.__file__).parent
            self.assertTrue((folder / "py.typed").exists())
            for path in sorted(folder.rglob("*.pyi")):
                name = ".".join([package.__name__, *path.relative_to(folder).parts])
                name = name.removesuffix(".pyi").removesuffix(".__init__")
                if torch or "profile" not in name:
                    self.check(path, name)

    def test_help_tells_errors_and_units(self):
        for what, words in ((ingot.compile, ("Raises", "bytes")), (ingot.Program.profile, ("µ",)),
                            (ingot.Program.verify, ("rtol", "UnsupportedError")),
                            (ingot_runtime.Program, ("row-major", "TypeError", "threads")),
                            (ingot_runtime.Program.run, ("ValueError",)),
                            (ingot.Session.run, ("numpy",))):
            text = pydoc.render_doc(what).replace("microseconds", "µs")
            for word in words:
                self.assertIn(word, text)

    def test_everything_public_is_documented(self):
        for package in (ingot, ingot_runtime):
            for name in package.__all__:
                value = getattr(package, name)
                self.assertTrue(isinstance(value, str) or value.__doc__, name)


if __name__ == "__main__":
    unittest.main()
