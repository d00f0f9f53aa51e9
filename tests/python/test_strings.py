"""Tensors of strings, by every door.

SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import ingot
import ingot.onnxruntime
import ingot_runtime
import leaks
import models

try:
    import onnx
except ImportError:
    onnx = None
else:
    import ingot.backend

WORDS = ["", "a", "héß", "日本", "🙂" * 300, "x y\n"]


def array_of(items, *shape):
    return np.array(items, dtype=object).reshape(shape or len(items))


class Strings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.turn = ingot.compile(models.copy_of("str"))
        cls.one = ingot.compile(b"""module @one {
  graph @main(%x: str[]) -> (str[1] "y") {
    %0 = reshape %x {to = [1]} : str[1]
    ret %0
  }
}""")

    def check(self, got, wanted):
        self.assertEqual(got.dtype, object)
        np.testing.assert_array_equal(got, wanted)
        self.assertEqual({type(item) for item in got.ravel()} - {str}, set())

    def test_every_type_that_numpy_has_of_them(self):
        x = array_of(WORDS, 2, 3)
        for given in (x, x.astype("U"), np.char.encode(x.astype("U"), "utf-8"),
                      np.asfortranarray(x), x.astype("U").astype(">U300")):
            self.check(self.turn(given), x.T)
            self.check(self.turn.run({"x": given})[0], x.T)
        if hasattr(getattr(np, "dtypes", None), "StringDType"):
            self.check(self.turn(x.astype(np.dtypes.StringDType())), x.T)
        self.check(self.turn(array_of([np.str_("a"), b"b"], 1, 2)), [["a"], ["b"]])

    def test_elements_that_lie_otherwise(self):
        wide = array_of([f"word {i}" for i in range(24)], 4, 6)
        for x in (wide, wide.astype("U"), wide.astype("S")):
            for part, same in ((x[::2, :3], wide[::2, :3]), (x[::-1, 1::2], wide[::-1, 1::2]),
                               (np.broadcast_to(x[:1, :1], (3, 2)),
                                np.broadcast_to(wide[:1, :1], (3, 2)))):
                self.check(self.turn(part), same.T)

    def test_empty_and_one(self):
        for shape in ((0, 3), (3, 0), (0, 0)):
            for dtype in (object, "U5", "S5", "U0"):
                got = self.turn(np.zeros(shape, dtype))
                self.assertEqual((got.shape, got.dtype), (shape[::-1], object))
        for x in ("日", np.str_("日"), np.array("日"), np.array("日", object),
                  np.array("日".encode())):
            self.check(self.one(x), ["日"])
        self.check(self.one(""), [""])

    def test_bytes_that_are_no_text_come_back(self):
        got = self.turn(np.array([[b"\xff\xfe", b"a"]]))
        self.check(got, [["\udcff\udcfe"], ["a"]])
        self.check(self.turn(got.T), got)

    def test_what_is_no_string_is_said_with_its_place(self):
        for items, error, words in (
                (["a", 1], TypeError, "element [0, 1] is a value of <class 'int'>, expected a str"),
                (["a", None], TypeError, "element [0, 1] is a value of <class 'NoneType'>"),
                ([float("nan"), "a"], TypeError, "element [0, 0] is a value of <class 'float'>"),
                (["a", "b\0c"], ValueError, "element [0, 1] holds a NUL"),
                (["a", b"b\0c"], ValueError, "element [0, 1] holds a NUL"),
                (["\ud800", "b"], ValueError, "element [0, 0] is not UTF-8")):
            x = array_of(items, 1, 2)
            for call, label in ((self.turn, "args[0]: "), (lambda x: self.turn.run({"x": x}), "x: ")):
                with self.assertRaises(error) as caught:
                    call(x)
                self.assertTrue(str(caught.exception).startswith(label + words), caught.exception)
        with self.assertRaisesRegex(ValueError, "NUL"):
            self.turn(np.array([["a\0b"]]))
        with self.assertRaisesRegex(ValueError, "NUL"):
            self.one("a\0b")
        with self.assertRaisesRegex(ValueError, r"element \[\] holds a NUL"):
            self.one(np.array("a\0b", object))
        with self.assertRaisesRegex(TypeError, r"expected str\[A, B\], got f32\[1, 2\]"):
            self.turn(np.ones((1, 2), "f4"))
        with self.assertRaisesRegex(TypeError, r"expected str\[A, B\], got the str 'a'"):
            self.turn("a")
        add = ingot.compile(models.ADD)
        with self.assertRaisesRegex(TypeError, r"expected f32\[B, 3\], got str\[1, 3\]"):
            add(np.ones((1, 3), "f4"), np.array([["a", "b", "c"]]))

    def test_results_are_the_callers(self):
        x = array_of(["first"], 1, 1)
        got = self.turn(x)
        self.turn(array_of(["second"], 1, 1))
        x[0, 0] = "third"
        self.check(got, [["first"]])

    def test_calls_leak_nothing(self):
        x = array_of(["word %d" % i for i in range(6)], 2, 3)
        words, wrong = x.astype("U"), array_of(["a", 1], 1, 2)

        def calls(count):
            for _ in range(count):
                self.turn(x)
                self.turn(words)
                try:
                    self.turn(wrong)
                except TypeError:
                    pass

        calls(100)
        none = sys.getrefcount(x[0, 0])
        leaks.check(self, calls)
        self.assertEqual(sys.getrefcount(x[0, 0]), none)

    def test_sessions(self):
        session = ingot.onnxruntime.InferenceSession(models.copy_of("str"))
        self.assertEqual([port.type for port in session.get_inputs() + session.get_outputs()],
                         ["tensor(string)"] * 2)
        x = array_of(WORDS, 2, 3)
        for given in (x, x.tolist(), ingot.onnxruntime.OrtValue.ortvalue_from_numpy(x)):
            self.check(session.run(None, {"x": given})[0], x.T)
        binding = session.io_binding()
        memory = ingot.onnxruntime.OrtValue.ortvalue_from_shape_and_type((3, 2), object)
        self.assertEqual(memory.data_type(), "tensor(string)")
        binding.bind_cpu_input("x", x)
        binding.bind_ortvalue_output("y", memory)
        session.run_with_iobinding(binding)
        self.check(memory.numpy(), x.T)
        self.check(ingot.Session(models.copy_of("str")).run(["y"], {"x": x})[0], x.T)

    def test_verified_and_interpreted(self):
        verification = self.turn.verify(array_of(WORDS, 2, 3))
        self.assertTrue(verification, verification)

    def test_without_numpy(self):
        code = """
import sys, ingot_runtime
program = ingot_runtime.Program(sys.argv[1])
got = program("w\\xf6rd")
assert type(got) is ingot_runtime.Tensor and (got.shape, got.dtype) == ((1,), "str")
assert "numpy" not in sys.modules
for refused in (got.tobytes, lambda: memoryview(got), got.__dlpack__):
    try:
        refused()
    except (TypeError, BufferError):
        continue
    assert False, refused
assert got.strings() == ["w\\xf6rd"], got.strings()
turn = ingot_runtime.Program(sys.argv[2])
print(got, turn.inputs)
"""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("one.ingot", "turn.ingot")]
            self.one.save(paths[0])
            self.turn.save(paths[1])
            done = subprocess.run([sys.executable, "-c", code, *paths], text=True,
                                  capture_output=True)
            self.check(ingot_runtime.Program(paths[1])(np.array([WORDS])), np.array([WORDS]).T)
        self.assertEqual(done.stdout.strip(), "ingot_runtime.Tensor(str, (1,)) "
                         "[('x', 'str[A, B]', 'str', (None, None))]", done.stderr)


@unittest.skipUnless(onnx, "onnx is not installed")
class Onnx(unittest.TestCase):
    def model(self, nodes, takes, gives, **constants):
        helper = onnx.helper
        kinds = {"s": onnx.TensorProto.STRING, "i": onnx.TensorProto.INT64,
                 "b": onnx.TensorProto.BOOL}
        ports = [[helper.make_tensor_value_info(name, kinds[kind], shape)
                  for name, kind, shape in values] for values in (takes, gives)]
        return helper.make_model(helper.make_graph(
            nodes, "g", *ports, [onnx.numpy_helper.from_array(value, name)
                                 for name, value in constants.items()]),
            opset_imports=[helper.make_opsetid("", 20)])

    def test_models_of_strings(self):
        make = onnx.helper.make_node
        model = self.model([make("StringConcat", ["x", "y"], ["z"]),
                            make("StringSplit", ["z"], ["parts", "counts"], delimiter=" "),
                            make("Equal", ["z", "y"], ["same"])],
                           [("x", "s", ["n"]), ("y", "s", ["n"])],
                           [("z", "s", ["n"]), ("parts", "s", ["n", "m"]), ("counts", "i", ["n"]),
                            ("same", "b", ["n"])])
        x, y = array_of(["", "é ", "a"]), array_of(["b", "c d", ""])
        for target in (None, "interpret"):
            rep = ingot.backend.prepare(model, **({"target": target} if target else {}))
            got = rep.run([x, y.astype("U")])
            self.assertEqual(got.z.tolist(), ["b", "é c d", "a"])
            self.assertEqual(got.parts.tolist(), [["b", "", ""], ["é", "c", "d"], ["a", "", ""]])
            self.assertEqual(got.counts.tolist(), [1, 3, 1])
            self.assertEqual(got.same.tolist(), [True, False, False])
            with self.assertRaisesRegex(TypeError, r"element \[1\]"):
                rep.run([array_of(["a", 2, "b"]), y])
            with self.assertRaisesRegex(ValueError, "NUL"):
                rep.run([array_of(["a", "\0", "b"]), y])

    def test_one_node(self):
        node = onnx.helper.make_node("StringConcat", ["x", "y"], ["z"])
        for x in (array_of(["a", "b"]), np.array(["a", "b"])):
            self.assertEqual(ingot.backend.run_node(node, [x, x], opset_version=20).z.tolist(),
                             ["aa", "bb"])


if __name__ == "__main__":
    unittest.main()
