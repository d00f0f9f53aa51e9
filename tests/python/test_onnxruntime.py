"""ONNX Runtime's names.

SPDX-License-Identifier: Apache-2.0
"""
import re
import tempfile
import unittest

import numpy as np

import ingot
import ingot.onnxruntime as ort
import ingot_runtime
import models


def message(*fields):
    """A message of protobuf: numbers, and texts and messages as bytes."""
    def varint(value):
        return (bytes([value & 127 | 128]) + varint(value >> 7)) if value > 127 else bytes([value])
    return b"".join(
        varint(number << 3) + varint(value) if isinstance(value, int) else
        varint(number << 3 | 2) + varint(len(value)) + value for number, value in fields)


def external_model(offset=0):
    """ONNX: y = x + w of two floats, with w in "data/w.bin"."""
    pairs = [(b"location", b"data/w.bin"), (b"offset", str(offset).encode()), (b"length", b"8")]
    w = message((1, 2), (2, 1), (8, b"w"), (14, 1),
                *((13, message((1, key), (2, value))) for key, value in pairs))
    x = message((1, b"x"), (2, message((1, message((1, 1), (2, message((1, message((1, 2))))))))))
    node = message((1, b"x"), (1, b"w"), (2, b"y"), (4, b"Add"))
    graph = message((1, node), (2, b"g"), (5, w), (11, x), (12, message((1, b"y"))))
    return message((1, 8), (7, graph), (8, message((2, 17))))


def zipped_model(extents, attributes):
    """ONNX: n = -x, and p = ZipMap(x) with these keys."""
    dims = [message((1, message((2, name)) if isinstance(name, bytes) else message((1, name))))
            for name in extents]
    x = message((1, b"x"), (2, message((1, message((1, 1), (2, b"".join(dims)))))))
    nodes = [message((1, b"x"), (2, b"n"), (4, b"Neg")),
             message((1, b"x"), (2, b"p"), (4, b"ZipMap"), (7, b"ai.onnx.ml"),
                     (5, attributes))]
    floats = message((1, message((1, 1))))
    key = 8 if b"strings" in attributes else 7
    dicts = message((5, message((1, key), (2, floats))))
    graph = message(*((1, node) for node in nodes), (2, b"g"), (11, x),
                    (12, message((1, b"n"), (2, floats))),
                    (12, message((1, b"p"), (2, message((4, message((1, dicts))))))))
    return message((1, 8), (7, graph), (8, message((2, 17))),
                   (8, message((1, b"ai.onnx.ml"), (2, 1))))


NUMBERS = message((1, b"classlabels_int64s"), (8, 5), (8, (1 << 64) - 7), (8, 1 << 62), (20, 7))
TEXTS = message((1, b"classlabels_strings"), (9, b"no"), (9, b""), (9, "é".encode()), (20, 8))
VALUES = [[0.25, -0.0, np.inf], [np.nan, 1e-45, 1.1]]


class Dicts(unittest.TestCase):
    """Results of ZipMap."""

    def check(self, got, rows, keys):
        self.assertEqual([type(row) for row in got], [dict] * len(rows))
        for row, wanted in zip(got, np.array(rows, "f4"), strict=True):
            self.assertEqual(list(row), list(keys))
            np.testing.assert_array_equal(np.array(list(row.values()), "f4").view("i4"),
                                          wanted.view("i4"))
            self.assertEqual({type(value) for value in row.values()}, {float})

    def test_as_onnx_runtime_gives_them(self):
        for attributes, keys, kind in ((NUMBERS, (5, -7, 1 << 62), "int64"),
                                       (TEXTS, ("no", "", "é"), "string")):
            model = zipped_model([b"N", 3], attributes)
            session = ort.InferenceSession(model)
            arg = session.get_outputs()[1]
            self.assertEqual((arg.type, arg.shape), (f"seq(map({kind},tensor(float)))", []))
            for rows in (VALUES, VALUES[:1], []):
                x = np.array(rows, "f4").reshape(-1, 3)
                n, p = session.run(None, {"x": x})
                np.testing.assert_array_equal(n, -x)
                self.check(p, rows, keys)
                self.check(session.run(["p"], {"x": x})[0], rows, keys)
                self.check_peer(model, x, p, arg)

    def check_peer(self, model, x, p, arg):
        try:
            import onnxruntime
        except ImportError:
            return
        session = onnxruntime.InferenceSession(model)
        wanted = session.run(None, {"x": x})[1]
        theirs = session.get_outputs()[1]
        self.assertEqual((arg.type, arg.shape), (theirs.type, theirs.shape))
        self.assertEqual(repr([dict(sorted(row.items())) for row in wanted]),
                         repr([dict(sorted(row.items())) for row in p]))

    def test_of_calls(self):
        program = ingot.compile(zipped_model([b"N", 3], TEXTS))
        keys, x = ("no", "", "é"), np.array(VALUES, "f4")
        self.assertEqual(program.maps, [None, keys])
        n, p = program(x)
        np.testing.assert_array_equal(n, -x)
        self.check(p, VALUES, keys)
        matrix = np.zeros((2, 3), "f4")
        self.assertIs(program.run({"x": x}, out={"p": matrix})[1], matrix)
        np.testing.assert_array_equal(matrix, x)
        self.assertEqual(ingot.compile(models.ADD).maps, [None])

    def test_of_an_artifact(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/zipped.ingot"
            ingot.compile(zipped_model([3], NUMBERS)).save(path)
            x = np.array(VALUES[0], "f4")  # of rank 1: one row
            program = ingot_runtime.Program(path)
            self.assertEqual(program.maps, [None, (5, -7, 1 << 62)])
            self.check(program.run({"x": x})[1], VALUES[:1], (5, -7, 1 << 62))
            self.check(ort.InferenceSession(path).run(["p"], {"x": x})[0], VALUES[:1],
                       (5, -7, 1 << 62))

    def test_values_and_binding(self):
        session = ort.InferenceSession(zipped_model([b"N", 3], NUMBERS))
        x = np.array(VALUES, "f4")
        value = session.run_with_ort_values(["p"], {"x": x})[0]
        self.assertFalse(value.is_tensor())
        self.assertEqual(value.data_type(), "seq(map(int64,tensor(float)))")
        with self.assertRaisesRegex(ValueError, "list of dicts"):
            value.numpy()
        binding = session.io_binding()
        binding.bind_cpu_input("x", x)
        binding.bind_output("p")
        session.run_with_iobinding(binding)
        self.check(binding.copy_outputs_to_cpu()[0], VALUES, (5, -7, 1 << 62))
        binding.bind_ortvalue_output("p", ort.OrtValue.ortvalue_from_numpy(x))
        with self.assertRaisesRegex(ValueError, "output 'p' is a list of dicts"):
            session.run_with_iobinding(binding)


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        cls.session = ort.InferenceSession(models.ADD, options,
                                           providers=["CPUExecutionProvider"])
        cls.x = np.ones((2, 3), "f4")

    def test_described(self):
        x, y = self.session.get_inputs()
        self.assertEqual((x.name, x.shape, x.type), ("x", ["B", 3], "tensor(float)"))
        self.assertEqual(y.name, "y")
        self.assertEqual([o.name for o in self.session.get_outputs()], ["sum"])
        self.assertEqual(self.session.get_providers(), ["CPUExecutionProvider"])

    def test_run(self):
        feed = {"x": self.x, "y": self.x.tolist()}
        with self.assertRaises(ValueError):  # lists of Python's floats are f64
            self.session.run(None, feed)
        feed["y"] = self.x
        np.testing.assert_array_equal(self.session.run(None, feed)[0], self.x * 2)
        for names in (["sum"], [], ()):  # none of them: all
            np.testing.assert_array_equal(self.session.run(names, feed)[0], self.x * 2)
        for name in ("z", b"x", 1, "\ud800"):
            with self.assertRaisesRegex(ValueError, re.escape(f"no input {name!r}")):
                self.session.run(None, {**feed, name: self.x})
        with self.assertRaisesRegex(ValueError, "'product'"):
            self.session.run(["product"], feed)

    def test_values_and_binding(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.x)
        got = self.session.run_with_ort_values(["sum"], {"x": value, "y": value})
        np.testing.assert_array_equal(got[0].numpy(), self.x * 2)
        binding = self.session.io_binding()
        binding.bind_cpu_input("x", self.x)
        binding.bind_ortvalue_input("y", value)
        binding.bind_output("sum")
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], self.x * 2)

    def test_external_data_in_memory(self):
        x, data = np.array([1, 2], "f4"), np.array([10, 20, 30, 40], "f4")
        program = ingot.compile(external_model(8), external_data={"data/w.bin": data})
        np.testing.assert_array_equal(program(x), [31, 42])
        again = ingot.compile(external_model(8), external_data={"data/w.bin": data + 1})
        np.testing.assert_array_equal(again(x), [32, 43])  # no cache took them for the same
        np.testing.assert_array_equal(ingot.compile(
            external_model(), external_data={"w": bytearray(data[:2].tobytes())})(x), [11, 22])
        self.assertIn("add", program.dump("import"))
        with self.assertRaisesRegex(ingot.InvalidError, "runs past the end of 'data/w.bin'"):
            ingot.compile(external_model(16), external_data={"data/w.bin": data})
        with self.assertRaisesRegex(ingot.InvalidError, "without that file"):
            ingot.compile(external_model(), external_data={"w.bin": data})
        with self.assertRaisesRegex(ingot.UnsupportedError, "of ONNX models alone"):
            ingot.compile(models.ADD, external_data={"w": data})
        with self.assertRaises((BufferError, ValueError)):
            ingot.compile(external_model(), external_data={"data/w.bin": data[::2]})
        with self.assertRaises(TypeError):
            ingot.compile(external_model(), external_data={"data/w.bin": "text"})

    def test_external_initializers(self):
        x, data = np.array([1, 2], "f4"), np.array([10, 20, 30, 40], "f4")
        options = ort.SessionOptions()
        options.add_external_initializers_from_files_in_memory(["data/w.bin"], [data], [8])
        session = ort.InferenceSession(external_model(), options)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [11, 22])
        options = ort.SessionOptions()
        options.add_external_initializers(["w"], [ort.OrtValue.ortvalue_from_numpy(data[::2])])
        session = ort.InferenceSession(external_model(), options)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], [11, 32])

    def test_outputs_in_the_callers_memory(self):
        binding, position = self.session.io_binding(), np.zeros((2, 3), "f4")
        binding.bind_input("x", "cpu", 0, np.float32, self.x.shape, self.x.ctypes.data)
        binding.bind_cpu_input("y", self.x)
        binding.bind_output("sum", "cpu", 0, np.float32, position.shape, position.ctypes.data)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(position, self.x * 2)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
        binding.bind_ortvalue_output("sum", value)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(value.numpy(), self.x * 2)
        self.assertEqual(binding.get_outputs()[0].data_ptr(), value.data_ptr())
        small = ort.OrtValue.ortvalue_from_shape_and_type([1, 3], np.float32)
        binding.bind_ortvalue_output("sum", small)
        with self.assertRaisesRegex(ValueError, "output 'sum'"):
            self.session.run_with_iobinding(binding)
        with self.assertRaisesRegex(NotImplementedError, "cuda"):
            binding.bind_output("sum", "cuda")

    def test_a_value(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.x.copy())
        value.update_inplace(self.x * 3)
        np.testing.assert_array_equal(np.from_dlpack(value), self.x * 3)
        self.assertEqual((value.data_type(), value.shape()), ("tensor(float)", [2, 3]))
        with self.assertRaises(ValueError):
            value.update_inplace(self.x[:1])


if __name__ == "__main__":
    unittest.main()
