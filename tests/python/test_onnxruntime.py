"""ONNX Runtime's names.

SPDX-License-Identifier: Apache-2.0
"""
import unittest

import numpy as np

import ingot.onnxruntime as ort
import models


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
        np.testing.assert_array_equal(self.session.run(["sum"], feed)[0], self.x * 2)
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
