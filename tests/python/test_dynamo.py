"""torch.compile(backend="ingot").

SPDX-License-Identifier: Apache-2.0
"""
import copy
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import torch
except ImportError:
    torch = None
else:
    import ingot.dynamo

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(3))
            self.table = torch.nn.EmbeddingBag(10, 4, mode="sum")

        def forward(self, ids, offsets, x):
            self.calls += 1
            y = self.table(ids, offsets)
            return {"y": y.view(y.shape[0], -1) * x.shape[0], "calls": self.calls.clone(),
                    "flat": torch.cat([y, y], 1).reshape(-1)}


@unittest.skipUnless(torch, "torch is not installed")
class Dynamo(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        torch.manual_seed(0)
        ingot.dynamo._told.clear()

    def check(self, got, want):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
        self.assertEqual(ingot.dynamo._told, set())

    def network(self):
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(),
                                   torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3)).eval()

    def test_one_graph_for_several_batches(self):
        module = self.network()
        graphs = []
        compiled = torch.compile(module, dynamic=True, backend=lambda *args: graphs.append(
            ingot.dynamo.backend(*args)) or graphs[-1])
        with torch.no_grad():
            for batch in (3, 5, 2, 9):
                x = torch.randn(batch, 4)
                self.check(compiled(x), module(x))
            self.assertLessEqual(len(graphs), 2)  # momentum and eps become constants

    def test_weights_may_change(self):
        module = self.network()
        compiled = torch.compile(module, backend="ingot")
        x = torch.randn(3, 4)
        with torch.no_grad():
            self.check(compiled(x), module(x))
            module[0].weight.add_(1)
            self.check(compiled(x), module(x))
            module[3].weight = torch.nn.Parameter(torch.randn(3, 8))
            self.check(compiled(x), module(x))
            module[3] = torch.nn.Linear(8, 3)
            self.check(compiled(x), module(x))

    def test_state_and_sizes(self):
        module = Counting().eval()
        reference = copy.deepcopy(module)
        compiled = torch.compile(module, backend="ingot", dynamic=True)
        with torch.no_grad():
            for batch in (3, 4):
                args = (torch.randint(0, 10, (2 * batch,)), torch.arange(0, 2 * batch, 2),
                        torch.randn(batch, 2))
                self.check(compiled(*args), reference(*args))
                self.check(module.calls, reference.calls)

    def test_sizes_of_several_axes(self):
        class Shuffle(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(2, 4, 3, stride=2)

            def forward(self, x):
                y = self.conv(x)
                b, c, h, w = y.shape
                return y.view(b, 2, 2, h, w).transpose(1, 2).reshape(b, -1, h, w)

        module = Shuffle().eval()
        compiled = torch.compile(module, backend="ingot", dynamic=True)
        with torch.no_grad():
            for shape in ((2, 2, 9, 9), (3, 2, 12, 8), (5, 2, 7, 10)):
                x = torch.randn(shape)
                self.check(compiled(x), module(x))

    def test_graphs_are_kept_across_processes(self):
        program = """
import os, sys, torch
torch.manual_seed(0)
module = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU()).eval()
compiled = torch.compile(module, backend="ingot", dynamic=True)
with torch.no_grad():
    x = torch.randn(3, 5)
    torch.testing.assert_close(compiled(x), module(x))
    if len(sys.argv) > 1:
        module[0].weight.add_(1)
        torch.testing.assert_close(compiled(x), module(x))
print(len(os.listdir(os.environ["INGOT_CACHE_DIR"] + "/models")))
"""
        with tempfile.TemporaryDirectory() as folder:
            counts = [int(subprocess.run(
                [sys.executable, "-c", "import ingot.dynamo" + program, *more], check=True,
                capture_output=True, text=True, env={**os.environ, "INGOT_CACHE_DIR": folder},
            ).stdout) for more in ([], [], ["changed"])]
        self.assertGreater(counts[0], 0)
        self.assertEqual(counts[0], counts[1])
        self.assertGreater(counts[2], counts[1])

    def test_what_cannot_be_compiled_runs_eagerly(self):
        module = self.network()
        x = torch.randn(3, 4)
        got = torch.compile(module, backend="ingot")(x)
        self.assertTrue(got.requires_grad)
        self.assertIn("torch.no_grad()", "".join(ingot.dynamo._told))
        torch._dynamo.reset()
        ingot.dynamo._told.clear()
        with torch.no_grad():
            torch.compile(lambda v: torch.special.i0(torch.linalg.matrix_exp(v)),
                          backend="ingot")(torch.eye(3))
        self.assertIn("matrix_exp", "".join(ingot.dynamo._told))
        self.assertIn("i0", "".join(ingot.dynamo._told))  # all that is missing, at once
        self.assertEqual(len(ingot.dynamo._told), 1)


if __name__ == "__main__":
    unittest.main()
