"""Profiles, verification, pages and diagnostics.

SPDX-License-Identifier: Apache-2.0
"""
import os
import tempfile
import unittest

import numpy as np

import ingot
import models
from ingot import _compiler
from ingot.inspect import compare
from ingot.values import array_of, value_of

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

X = np.arange(6, dtype="f4").reshape(2, 3)


class Profiles(unittest.TestCase):
    def test_steps(self):
        profile = ingot.compile(models.ADD).profile(X, y=X, runs=5)
        (step,) = profile.steps
        self.assertEqual((step.kind, step.calls, step.depth, profile.runs), ("launch", 1, 0, 5))
        self.assertEqual(step.bytes, 3 * X.nbytes)
        self.assertGreater(profile.microseconds, step.microseconds)
        self.assertIn("add", str(profile))
        self.assertIn("whole run", profile._repr_html_())

    def test_misuse(self):
        program = ingot.compile(models.ADD)
        with self.assertRaises(ValueError):
            program.profile(X, X, runs=0)
        with self.assertRaises(TypeError):
            program.profile(X)
        np.testing.assert_array_equal(program(X, X), X + X)


class Verifying(unittest.TestCase):
    def test_good(self):
        for text, args in ((models.ADD, (X, X)), (models.STATE, (X[0],)),
                           (models.PAIR, (np.array([1.5, np.nan, -2], "f4"),))):
            program = ingot.compile(text)
            program(*args)
            found = program.verify(*args)
            self.assertTrue(found, found)
            self.assertEqual(len(found.outputs), len(program.outputs))
            self.assertIn("good", str(found))

    def test_wrong(self):
        nan, inf = np.nan, np.inf
        for got, wanted, is_good in (
                ([1.0, 2.0], [1.0, 2.001], True), ([1.0], [1.01], False), ([nan], [nan], True),
                ([nan], [1.0], False), ([1.0], [nan], False), ([inf], [inf], True),
                ([inf], [-inf], False), ([1.0], [inf], False), ([1.0], [1.0, 1.0], False)):
            found = compare(("y", "f32[N]"), value_of(np.array(got, "f4")),
                            value_of(np.array(wanted, "f4")), 1e-3, 1e-5)
            self.assertEqual(found.is_good, is_good, (got, wanted))
        one, two = (value_of(np.array(n, "i8")) for n in (1_000_000, 1_000_001))
        self.assertFalse(compare(("n", "i64[]"), one, two, 1e-3, 1e-5).is_good)
        self.assertFalse(compare(("n", "i64[]"), one, ("i32", (), b"\0" * 4), 1, 1).is_good)

    def test_what_cannot_be(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.ingot")
            ingot.compile(models.ADD).save(path)
            for ask in (lambda p: p.verify(X, X), lambda p: p.dump()):
                with self.assertRaisesRegex(ingot.InvalidError, "artifact"):
                    ask(ingot.load(path))
            self.assertIn("Program", ingot.load(path)._repr_html_())
        with self.assertRaisesRegex(ingot.UnsupportedError, "clamp_ids"):
            ingot.compile(models.ADD, clamp_ids=True).verify(X, X)


class Interpreter(unittest.TestCase):
    def test_values_come_and_go(self):
        arrays = [X.T, X[:, ::2], np.float16(3), np.zeros((0, 4), "i4"), np.array([True, False])]
        if ml_dtypes:
            arrays += [np.array([[1, -2, 3]]).astype(t) for t in (
                ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.int2)]
            arrays.append(np.array([1, 14, 15, 0, 9], ml_dtypes.uint4))
        for x in arrays:
            got = array_of(value_of(x))
            self.assertEqual((got.dtype, got.shape), (x.dtype, x.shape))
            np.testing.assert_array_equal(got.astype("f4"), x.astype("f4"))
        self.assertEqual(array_of(value_of([X, None]))[1], None)
        with self.assertRaisesRegex(TypeError, "complex"):
            value_of(np.zeros(2, "c8"))

    def test_run(self):
        call = {"data": models.ADD, "path": "<add>"}
        (value,) = _compiler.interpret(arguments=[value_of(X), value_of(X)], **call)
        np.testing.assert_array_equal(array_of(value), X + X)
        for arguments, error in ((None, TypeError), ([3], TypeError), ([("q7", (), b"")], TypeError),
                                 ([("f32", (-1,), b"")], Exception), ([value_of(X)], Exception),
                                 ([("f32", (2, 3), b"1234"), value_of(X)], Exception)):
            with self.assertRaises(error):
                _compiler.interpret(arguments=arguments, **call)


class Telling(unittest.TestCase):
    def test_page(self):
        page = ingot.compile(models.ADD)._repr_html_()
        self.assertIn("<iframe srcdoc=", page)
        self.assertIn("add", page)

    def test_diagnostics(self):
        with self.assertRaises(ingot.InvalidError) as caught:
            ingot.compile(b"module @m {")
        (one,) = caught.exception.diagnostics
        self.assertEqual((one.file, one.node, one.hint), ("<memory>", None, None))
        with self.assertRaises(ingot.InvalidError) as caught:
            ingot.compile(models.ADD, target="gpu9")
        self.assertTrue(caught.exception.diagnostics[0].hint, caught.exception.diagnostics)
        error = ingot.UnsupportedError("m.onnx: node 3 (Foo): is not there\n  hint: do without\n"
                                       "m.onnx: node 5 (Bar): neither")
        first, second = error.diagnostics
        self.assertEqual((first.file, first.node, first.operator, first.hint),
                         ("m.onnx", 3, "Foo", "do without"))
        self.assertEqual((second.node, second.hint), (5, None))
        for text, file, node, operator in (
                ("m.onnx: node 3 'a/b' (Gemm): of 'x': no", "m.onnx", 3, "Gemm"),
                ("m.pt2: node 'mm_1': operator aten::mm.out is not there", "m.pt2", "mm_1",
                 "aten::mm.out"),
                ("m.pt/code/a.py:8: in 'M.forward': operator aten::b is not", "m.pt/code/a.py",
                 None, "aten::b"),
                ("<memory>:3:7: expected a name", "<memory>", None, None),
                ("m.onnx: node 25 'add' (Add) of 'div', 'mul': no", "m.onnx", 25, "Add"),
                ("node 1 (Div): an integer is divided by zero", None, 1, "Div"),
                ("input 'x' of node 3 (Gather): element 0 is 9", None, 3, "Gather"),
                ("m.pt: code/a.py:14: in 'f': node (aten::split): no", "m.pt", None,
                 "aten::split"),
                ("input 'x' must be f32[N], but was given i8[1]: no", None, None, None),
                ("m.onnx: node 3 'fc' (Foo): operator com.acme::Foo is not known", "m.onnx", 3,
                 "Foo"),
                ("m.pt: in 'forward': these inputs have no value", "m.pt", None, None)):
            (one,) = ingot.Error(text).diagnostics
            self.assertEqual((one.file, one.node, one.operator), (file, node, operator))


if __name__ == "__main__":
    unittest.main()
