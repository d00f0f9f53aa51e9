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

    def test_packages_import_what_they_hold(self):
        code = f"import sys; sys.path.insert(0, {HERE!r}); import programs.package_import"
        result = run("-c", code, path=self.ours)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
