"""ingot.backend under ONNX's own runner: every 20th of the cases that `ingot verify` passes
(tests/conform/expected).

INGOT_FULL=1 runs all of them.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import unittest
import warnings

import numpy as np

try:
    import onnx.backend.test
    import ml_dtypes
except ImportError:
    onnx = None
else:
    import ingot.backend

# ONNX's runner asks for the length of a number, an item of the sequence that it compares.
BEYOND_THE_RUNNER = {"test_loop16_seq_none"}
LISTS = pathlib.Path(__file__).resolve().parent.parent / "conform/expected"


@unittest.skipUnless(onnx, "onnx and ml_dtypes are not installed")
class Backend(unittest.TestCase):
    def test_onnx_runner_compiled(self):
        self.run_listed("cpu-static.txt", ingot.backend.IngotBackend)

    def test_onnx_runner_interpreted(self):
        class Interpreted(ingot.backend.IngotBackend):
            @classmethod
            def prepare(cls, model, device="CPU", **kwargs):
                return super().prepare(model, device, target="interpret", **kwargs)

        self.run_listed("interpret-static.txt", Interpreted)

    def run_listed(self, name, backend):
        warnings.simplefilter("ignore")
        names = [line.split()[0] for line in (LISTS / name).read_text().splitlines()]
        every = 1 if os.environ.get("INGOT_FULL") == "1" else 20
        wanted = {name + "_cpu" for name in names[::every] if name not in BEYOND_THE_RUNNER}
        tests = unittest.TestSuite()
        runner = onnx.backend.test.BackendTest(backend, __name__)
        for case in runner.test_cases.values():
            tests.addTests(case(name) for name in dir(case) if name in wanted)
        result = unittest.TestResult()
        tests.run(result)
        self.assertGreater(result.testsRun, 0.9 * len(wanted))  # other versions, other cases
        self.assertEqual([(str(test), text[-300:]) for test, text in
                          result.failures + result.errors], [])

    def test_one_node_and_by_name(self):
        node = onnx.helper.make_node("Sub", ["a", "b"], ["c"])
        a, b = np.array([3, 4], "f4"), np.array([1, 1], "f4")
        got = ingot.backend.run_node(node, [a, b])
        np.testing.assert_array_equal(got.c, [2, 3])
        np.testing.assert_array_equal(got["c"], got[0])
        got = ingot.backend.run_node(node, {"b": a, "a": b}, opset_version=13)
        np.testing.assert_array_equal(got[0], [-2, -3])
        self.assertTrue(ingot.backend.supports_device("CPU"))
        self.assertFalse(ingot.backend.supports_device("CUDA:1"))
        with self.assertRaisesRegex(ValueError, "CUDA"):
            ingot.backend.run_node(node, [a, b], "CUDA")
        with self.assertRaisesRegex(ValueError, "3 inputs"):
            ingot.backend.run_node(onnx.helper.make_node("Neg", ["a"], ["c"]), [a, b, a])

    def test_lists_of_arrays(self):
        helper, f4 = onnx.helper, onnx.TensorProto.FLOAT
        model = helper.make_model(helper.make_graph(
            [helper.make_node("SequenceInsert", ["s", "x", "at"], ["t"])], "g",
            [helper.make_tensor_sequence_value_info("s", f4, ["n", 2]),
             helper.make_tensor_value_info("x", f4, ["m", 2]),
             helper.make_tensor_value_info("at", onnx.TensorProto.INT64, [])],
            [helper.make_tensor_sequence_value_info("t", f4, None)]),
            opset_imports=[helper.make_opsetid("", 18)])
        ready = ingot.backend.prepare(model)
        items = [np.array([[1, 2], [3, 4]], "f4"), np.zeros((0, 2), "f4"), np.array([[5, 6]], "f4")]
        for given, at in ((items, 1), (items[:1], -1), ([], 0)):
            wanted = list(given)
            wanted.insert(at, items[2])
            got = ready.run([given, items[2], np.array(at)]).t
            self.assertEqual(len(got), len(wanted))
            for a, b in zip(got, wanted):
                np.testing.assert_array_equal(a, b)
                self.assertEqual(a.shape, b.shape)

    def test_types_that_numpy_itself_lacks(self):
        import models
        for name, dtype in (("bf16", ml_dtypes.bfloat16), ("f8e4m3fn", ml_dtypes.float8_e4m3fn),
                            ("f8e5m2", ml_dtypes.float8_e5m2)):
            program = ingot.compile(models.copy_of(name))
            x = np.array([[0, 1, -2], [0.5, float("nan"), 8]]).astype(dtype)
            got = program(x[:, ::-1])
            self.assertEqual(got.dtype, x.dtype)
            np.testing.assert_array_equal(got.astype("f4"), x[:, ::-1].T.astype("f4"))
        with self.assertRaisesRegex(TypeError, r"expected f8e5m2\[A, B\], got i4\[2, 3\]"):
            program(np.zeros((2, 3), ml_dtypes.int4))

    def test_types_smaller_than_a_byte(self):
        import models
        for name, dtype in (("i4", ml_dtypes.int4), ("u4", ml_dtypes.uint4),
                            ("i2", ml_dtypes.int2), ("u2", ml_dtypes.uint2),
                            ("f4e2m1", ml_dtypes.float4_e2m1fn)):
            program = ingot.compile(models.flat_copy_of(name))
            for count in (0, 1, 2, 3, 4, 5, 17):
                x = (np.arange(2 * count) % 11 - 5).astype("f4").astype(dtype)[::-2]
                got = program(x)
                self.assertEqual((got.dtype, got.shape), (x.dtype, x.shape))
                np.testing.assert_array_equal(got.astype("f4"), x.astype("f4"))


if __name__ == "__main__":
    unittest.main()
