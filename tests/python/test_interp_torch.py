"""The module of torch's shape that embedded interpreters have, by itself and beside torch.

SPDX-License-Identifier: Apache-2.0
"""
import importlib.util
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*arguments, path):
    return subprocess.run([sys.executable, *arguments], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": path}, check=False)


class InterpTorch(unittest.TestCase):
    script = os.path.join(HERE, "programs", "interp_torch.py")

    def setUp(self):
        self.ours = os.path.join(os.path.dirname(os.environ["PYTHONPATH"]), "ingot-interp")

    def check(self, path):
        result = run(self.script, path=path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.split()), 10)

    def test_ours_agrees(self):
        self.check(self.ours)

    def test_torch_agrees(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("no torch")
        self.check("")

    def test_modules_without_work_are_there(self):
        """What torchvision's models import on their way, and never call to be run."""
        code = ("import torch, torch._custom_ops, torch.utils.model_zoo\n"
                "from torch._dynamo.utils import is_compile_supported\n"
                "from torch.ao.quantization import DeQuantStub, QuantStub\n"
                "from torch.jit.annotations import BroadcastingList2\n"
                "from torch.nn.modules.utils import _pair, _triple\n"
                "from torch.onnx import operators, symbolic_opset11\n"
                "from torch.onnx.symbolic_helper import parse_args\n"
                "from torch.utils.data import Dataset, Sampler\n"
                "key = torch._C.DispatchKey.AutocastCPU\n"
                "keys = torch._C.DispatchKeySet(key) | torch._C.DispatchKeySet(key)\n"
                "with torch._C._ExcludeDispatchKeyGuard(keys):\n"
                "    assert parse_args('v')(len)([1]) == 1\n"
                "class Rows(Dataset[int]): pass\n"
                "assert _pair(3) == (3, 3) and _pair([1, 2]) == (1, 2)\n"
                "assert not is_compile_supported('cpu') and QuantStub()(7) == 7\n")
        result = run("-c", code, path=self.ours)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_packages_import_what_they_hold(self):
        code = f"import sys; sys.path.insert(0, {HERE!r}); import programs.package_import"
        result = run("-c", code, path=self.ours)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
