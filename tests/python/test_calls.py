"""Calls of programs with arrays of the buffer protocol, and with numpy's.

SPDX-License-Identifier: Apache-2.0
"""
import array
import io
import logging
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import ingot
import ingot_runtime
import leaks
import models


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.add = ingot.compile(models.ADD)
        cls.pair = ingot.compile(models.PAIR)

    def test_positional_named_and_by_feed(self):
        x, y = np.ones((2, 3), "f4"), np.full((2, 3), 2, "f4")
        for got in (self.add(x, y), self.add(x, y=y), self.add(y=y, x=x),
                    self.add.run({"y": y, "x": x})[0]):
            np.testing.assert_array_equal(got, np.full((2, 3), 3, "f4"))

    def test_any_batch_also_none(self):
        for batch in (1, 0, 5, 1000, 1):
            x = np.arange(3 * batch, dtype="f4").reshape(batch, 3)
            np.testing.assert_array_equal(self.add(x, x), x + x)

    def test_special_values_come_through(self):
        x = np.array([[np.nan, np.inf, -0.0], [-np.inf, 1e-45, 3e38]], "f4")
        got = self.add(x, np.zeros_like(x))
        np.testing.assert_array_equal(got, x + 0)

    def test_elements_that_lie_otherwise_are_copied(self):
        wide = np.arange(24, dtype="f4").reshape(4, 6)
        for x in (wide[::2, :3], wide[:, ::2], wide.T[:, :3].copy("F"), wide[::-1, :3], wide[3:, 3:],
                  np.broadcast_to(np.float32(2), (4, 3)),
                  np.frombuffer(b"-" + wide.tobytes(), "u1")[1:].view("f4").reshape(8, 3)):
            np.testing.assert_array_equal(self.add(x, x), x + x)

    def test_what_may_not_be_written_is_read(self):
        x = np.ones((1, 3), "f4")
        x.setflags(write=False)
        np.testing.assert_array_equal(self.add(x, x), [[2, 2, 2]])

    def test_nested_results_and_known_values(self):
        got = self.pair(np.array([1.5, -2], "f4"))
        self.assertEqual(list(got), ["a", "b"])
        np.testing.assert_array_equal(got["a"], [3, -4])
        np.testing.assert_array_equal(got["b"][0], [1, -2])
        self.assertEqual(got["b"][0].dtype, np.int64)
        self.assertEqual(got["b"][1:], [3, None])

    def test_outputs_are_the_callers(self):
        x = np.ones((1, 3), "f4")
        first = self.add(x, x)
        self.add(x * 5, x)
        np.testing.assert_array_equal(first, [[2, 2, 2]])
        first += 1

    def test_memory_of_results_that_are_gone_is_used_again(self):
        program = ingot.compile(models.FIXED)
        kept, x = [], np.zeros((2, 3), "f4")
        for step in range(5):
            one, other = program(x + step)
            self.assertEqual(one.ctypes.data % 64, 0)
            self.assertFalse(np.shares_memory(one, other))
            kept += [one] if step % 2 else []
        address = one.ctypes.data
        del one, other
        again = program(x)[0]
        self.assertEqual(again.ctypes.data, address)
        view = again[0]
        del program, again
        self.assertEqual(view.tolist(), [1, 1, 1])
        self.assertEqual([k[0, 0] for k in kept], [2, 4])

    def test_outputs_are_written_to_arrays_of_the_caller(self):
        program = ingot.compile(models.FIXED)
        name, other = (port[0] for port in program.outputs)
        x, mine, bad = np.zeros((2, 3), "f4"), np.full((2, 3), -1, "f4"), np.zeros((3, 2), "f8")
        for step in range(4):
            got = program.run({"x": x + step}, out={name: mine})
            self.assertIs(got[0], mine)
            self.assertEqual((mine[0, 0], got[1][0, 0]), (step + 1, step + 1))
            for wrong in ({name: mine, other: bad}, {name: mine, other: "text"}, {"no": mine}):
                with self.assertRaises((TypeError, ValueError)):
                    program.run({"x": x}, out=wrong)
        odd = np.frombuffer(bytearray(25), "u1")[1:].view("f4").reshape(2, 3)
        with self.assertRaisesRegex(ValueError, "at aligned addresses"):
            program.run({"x": x}, out={name: odd})
        theirs = [program.run({"x": x})[0] for _ in range(3)]
        self.assertFalse(any(np.shares_memory(t, mine) for t in theirs))

    def test_what_does_not_fit_is_said(self):
        x = np.ones((2, 3), "f4")
        for args, error, words in (
                ((x,), TypeError, "y: expected f32[B, 3], got nothing"),
                ((x, x, x), TypeError, "more"),
                ((x, x[:, :2]), TypeError, "expected f32[B, 3], got f32[2, 2]"),
                ((x, x.astype("f8")), TypeError, "got f64[2, 3]"),
                ((x, x.astype("c8")), TypeError, "a complex number"),
                ((x, 3), TypeError, "got the int 3"),
                ((x, x.astype(">f4")), TypeError, "'>f'"),
                ((x, x.astype(object)), TypeError, "args[1]: element [0, 0] is a value of"),
                ((x, np.ma.masked_array(x, True)), TypeError, "filled"),
                ((x, None), TypeError, "got None"),
                ((x, "a"), TypeError, "the str"),
                ((x, object()), TypeError, "args[1]: expected a tensor, got a value of"),
                ((object(), x), TypeError, "args[0]: expected a tensor, got a value of"),
                ((x, 1 << 80), ValueError, "64 bits"),
                ((x, np.ones((1,) * 9, "f4")), ValueError, "rank 9"),
                ((x, np.ones((3, 3), "f4")), ValueError, "2")):
            with self.assertRaisesRegex(Exception, "") as caught:
                self.add(*args)
            self.assertIsInstance(caught.exception, error, args)
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(ValueError, "no argument 'z'"):
            self.add(x, z=x)
        with self.assertRaisesRegex(ValueError, "input 'y' is missing"):
            self.add.run({"x": x})
        with self.assertRaisesRegex(ValueError, "there is no input 'z'"):
            self.add.run({"x": x, "y": x, "z": x})
        for value, words in ((None, "'NoneType'"), ([1.0], "'list'"), (3.0, "'float'"),
                             ("a", "'str'"), (x.astype(object), "element .* expected a str")):
            with self.assertRaisesRegex(TypeError, f"^y: .*{words}"):
                self.add.run({"x": x, "y": value})

    def test_a_tensor_that_cannot_be_lent_is_said(self):
        """Errors of __dlpack__() are the caller's own; nothing hides them."""
        class Raising:
            def __dlpack__(self, **_):
                raise BufferError("it is elsewhere")

        class Number:
            def __dlpack__(self, **_):
                return 5

        x = np.ones((2, 3), "f4")
        for value, error, words in ((Raising(), BufferError, "it is elsewhere"),
                                    (Number(), TypeError, "no capsule of a tensor")):
            with self.assertRaisesRegex(error, words):
                self.add.run({"x": x, "y": value})
            with self.assertRaisesRegex(error, words):
                self.add(x, value)

    def test_an_endless_argument_is_an_error(self):
        loop = []
        loop.append(loop)
        with self.assertRaises((RecursionError, TypeError, ValueError)):
            self.pair(loop)

    def test_element_types(self):
        for name, dtype in (("f32", "f4"), ("f64", "f8"), ("f16", "f2"), ("bool", "?"),
                            ("i8", "i1"), ("u8", "u1"), ("i16", "i2"), ("u16", "u2"),
                            ("i32", "i4"), ("u32", "u4"), ("i64", "i8"), ("u64", "u8")):
            program = ingot.compile(models.copy_of(name))
            x = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
            got = program(x)
            self.assertEqual(got.dtype, x.dtype, name)
            np.testing.assert_array_equal(got, x.T)

    def test_state(self):
        program = ingot.compile(models.STATE)
        x = np.zeros(3, "f4")
        self.assertEqual([int(program(x)[1]) for _ in range(3)], [1, 2, 3])
        program.reset()
        np.testing.assert_array_equal(program(x)[0], [1, 1, 1])
        self.assertEqual([state[0] for state in program.states], ["count"])

    def test_threads_call_one_program(self):
        x = np.arange(300, dtype="f4").reshape(100, 3)
        wrong = []

        def call(seed):
            for _ in range(50):
                got = self.add(x * seed, x)
                if not np.array_equal(got, x * seed + x):
                    wrong.append(seed)

        threads = [threading.Thread(target=call, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_calls_leak_nothing(self):
        x = np.ones((1, 3), "f4")
        small = np.ones((1, 2), "f4")
        kinds = ingot.compile(models.KINDS)
        point, other, items, rest = kinds(x[0])
        self.assertEqual((type(point).__name__, point.y, list(other)), ("Point", 1.5, ["a"]))
        self.assertEqual((items[1:], rest[1:]), (["text", None], (True, 1.5 - 2j)))
        np.testing.assert_array_equal(other["a"].z, point.x)

        def calls(count):
            for _ in range(count):
                self.add(x, y=x)
                self.pair(x[0])
                kinds(x[0])
                self.add.run({"x": x, "y": x})
                try:
                    self.add(x, small)
                except TypeError:
                    pass

        calls(100)
        none = sys.getrefcount(x)
        leaks.check(self, calls)
        self.assertEqual(sys.getrefcount(x), none)


class Tensors(unittest.TestCase):
    """Outputs where nobody imported numpy: a process of its own."""

    def test_without_numpy(self):
        code = """
import array, sys, ingot_runtime
program = ingot_runtime.Program(sys.argv[1])
x = memoryview(array.array("f", [1, 2, 3])).cast("B").cast("f", [1, 3])
got = program(x, x)
assert type(got) is ingot_runtime.Tensor and got.shape == (1, 3) and got.dtype == "f32"
assert memoryview(got).tolist() == [[2, 4, 6]], memoryview(got).tolist()
assert "numpy" not in sys.modules
print(got)
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.ingot")
            ingot.compile(models.ADD).save(path)
            done = subprocess.run([sys.executable, "-c", code, path], text=True,
                                  capture_output=True)
        self.assertEqual(done.stdout.strip(), "ingot_runtime.Tensor(f32, (1, 3))", done.stderr)

    def test_dlpack_both_ways(self):
        program = ingot.compile(models.ADD)
        view = memoryview(array.array("f", [1, 2, 3])).cast("B").cast("f", [1, 3])
        got = np.from_dlpack(np.asarray(program(view, view)))
        np.testing.assert_array_equal(got, [[2, 4, 6]])


class Opening(unittest.TestCase):
    def test_winograd_is_another_program(self):
        rng = np.random.default_rng(0)
        w = rng.integers(-64, 64, 32 * 32 * 9) / 64
        text = models.CONV.format(weights=", ".join(map(str, w))).encode()
        x = rng.standard_normal((2, 32, 9, 7)).astype("f4")
        plain, program = ingot.compile(text), ingot.compile(text, winograd=True)
        self.assertNotIn("winograd", plain.dump())
        self.assertIn("kernel = @winograd", program.dump())
        np.testing.assert_allclose(program(x), plain(x), rtol=1e-4, atol=1e-4)
        self.assertTrue(program.verify(x))

    def test_saved_and_loaded(self):
        x = np.ones((4, 3), "f4")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.ingot")
            ingot.compile(models.ADD).save(path)
            for make in (ingot.load, ingot_runtime.Program):
                program = make(path, threads=2)
                np.testing.assert_array_equal(program(x, x), x + x)
            with self.assertRaises(ingot.InvalidError):
                ingot.load(path).save(path)

    def test_names_of_files_are_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "\udcff")
            ingot.compile(models.ADD).save(name + ".ingot")
            self.assertEqual(os.listdir(os.fsencode(folder)), [b"\xff.ingot"])
            for opened in (ingot.load(name + ".ingot"), ingot_runtime.Program(name + ".ingot")):
                x = np.ones((1, 3), "f4")
                np.testing.assert_array_equal(opened(x, x), x + x)
            with open(name + ".ig", "wb") as file:
                file.write(models.ADD)
            np.testing.assert_array_equal(ingot.compile(name + ".ig")(x, x), x + x)
            for call in (ingot.compile, ingot.load, ingot_runtime.Program):
                with self.assertRaises(ingot.FileError):
                    call(name + ".none")

    def test_errors_are_exceptions_of_two_kinds(self):
        for make, kinds, words in (
                (lambda: ingot.compile("/nothing.onnx"), (ingot.FileError, OSError), "nothing"),
                (lambda: ingot.load("/nothing.ingot"), (ingot.FileError, OSError), "nothing"),
                (lambda: ingot.compile(b"module @m {"), (ingot.InvalidError, ValueError), ""),
                (lambda: ingot.compile(models.IN_PLACE), (ingot.UnsupportedError,),
                 "shares the memory of an input"),
                (lambda: ingot.compile(models.ADD, target="gpu9"),
                 (ingot.InvalidError, ValueError), "gpu9"),
                (lambda: ingot.compile(3), (TypeError,), "int")):
            with self.assertRaises(kinds[0]) as caught:
                make()
            for kind in kinds:
                self.assertIsInstance(caught.exception, kind)
            self.assertIn(words, str(caught.exception))

    def test_progress_is_said_and_may_stop_it(self):
        class Stop(Exception):
            pass

        def stop(stage, done, total):
            raise Stop

        seen = []
        ingot.compile(models.ADD, cache="", progress=lambda *args: seen.append(args))
        self.assertTrue(seen)
        with self.assertRaises(Stop):
            ingot.compile(models.ADD, cache="", progress=stop)

    def test_log_has_errors_of_compiler_and_runtime(self):
        heard = []
        self.addCleanup(ingot.set_log, None)
        ingot.set_log(heard.append)
        ingot.compile(models.ADD)
        self.assertEqual(heard, [])
        with self.assertRaises(ingot.InvalidError):
            ingot.compile(b"module @m {\n  nonsense\n}\n", cache="")
        with self.assertRaises(ingot.FileError):
            ingot_runtime.Program("/no/such.ingot")
        record, opened = heard
        self.assertEqual(record[:3], ("error", "compiler", "INVALID"))
        self.assertEqual(record.fields["line"], 2)
        self.assertEqual(opened[:3], ("error", "runtime", "IO"))
        self.assertIn("/no/such.ingot", opened.words)

        def fail(record):
            raise ValueError("a hook that fails stops nobody")

        ingot.set_log(fail)
        with mock.patch.object(sys, "unraisablehook"), self.assertRaises(ingot.FileError):
            ingot_runtime.Program("/no/such.ingot")
        for form, begin in (("json", "{"), ("text", "20")):
            ingot.set_log(form)
            with mock.patch.object(sys, "stderr", io.StringIO()) as stderr, \
                    self.assertRaises(ingot.FileError):
                ingot_runtime.Program("/no\n\udcff.ingot")
            line, end = stderr.getvalue().split("\n")
            self.assertTrue(line.startswith(begin) and "runtime" in line and not end, line)

        records = []
        handler = logging.Handler()
        handler.emit = records.append
        logger = logging.Logger("ingot")
        logger.addHandler(handler)
        ingot.set_log(logger)
        with self.assertRaises(ingot.FileError):
            ingot_runtime.Program("/no/such.ingot")
        self.assertEqual((records[0].levelno, records[0].ingot.code), (logging.ERROR, "IO"))
        with self.assertRaises(ValueError):
            ingot.set_log("xml")

    def test_described(self):
        program = ingot.compile(models.ADD)
        self.assertEqual(program.inputs[0], ("x", "f32[B, 3]", "f32", (None, 3)))
        self.assertEqual(program.outputs[0][0], "sum")
        self.assertIn("x: f32[B, 3]", repr(program))
        self.assertIn("add", program.dump("import"))

    def test_import_is_quick_and_light(self):
        code = ("import time, sys; t = time.process_time(); import {}; "
                "print(time.process_time() - t); "
                "assert not {{'numpy', 'torch', 'onnx'}} & set(sys.modules)")

        def take(module):
            return float(subprocess.run([sys.executable, "-c", code.format(module)], text=True,
                                        capture_output=True, check=True).stdout)
        # Measured by a module of Python's own, as fast as this machine is now.
        times = [(take("ingot"), take("asyncio")) for _ in range(3)]
        self.assertLess(min(ours for ours, _ in times), 1.3 * min(yard for _, yard in times))


if __name__ == "__main__":
    unittest.main()
