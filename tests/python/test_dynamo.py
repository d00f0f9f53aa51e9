"""torch.compile(backend="ingot").

SPDX-License-Identifier: Apache-2.0
"""
import copy
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

try:
    import torch
except ImportError:
    torch = None
else:
    import ingot.dynamo
    from torch.testing._internal.two_tensor import TwoTensor

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

    class Tables(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bags = torch.nn.EmbeddingBag(5000, 8, mode="mean")
            self.words = torch.nn.Embedding(5000, 8)
            self.register_buffer("rows", torch.randn(5000, 8))
            self.out = torch.nn.Linear(8, 2)

        def forward(self, ids, offsets):
            bags = self.bags(ids, offsets)
            rows = self.words(ids) + self.rows[ids] + self.rows.index_select(0, ids)
            return self.out(bags), self.out(rows)


@unittest.skipUnless(torch, "torch is not installed")
class Dynamo(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        torch.manual_seed(0)
        ingot.dynamo._reported.clear()

    def check(self, got, want):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
        self.assertEqual(ingot.dynamo._reported, set())

    def network(self):
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(),
                                   torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3)).eval()

    def test_weights_that_hold_tensors(self):
        weight = TwoTensor(torch.randn(3, 4), torch.randn(3, 4))
        module = torch.nn.Linear(4, 3).requires_grad_(False)
        module.weight = torch.nn.Parameter(weight, requires_grad=False)
        program = torch.compile(module, backend="ingot")
        for batch in (2, 5):
            x = torch.randn(batch, 4)
            got, want = program(x), module(x)
            self.check(got.a, want.a)
            self.check(got.b, want.b)

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

    def test_weights_of_other_storage(self):
        module = self.network()
        compiled = torch.compile(module, backend="ingot")
        x = torch.randn(3, 4)
        with torch.no_grad():
            self.check(compiled(x), module(x))
            module[0].weight.data = torch.randn(8, 4)  # the same tensor and version
            self.check(compiled(x), module(x))

    def test_weights_after_a_step(self):
        module = self.network()
        compiled = torch.compile(module, backend="ingot")
        x = torch.randn(3, 4)
        with torch.no_grad():
            self.check(compiled(x), module(x))
        step = torch.optim.SGD(module.parameters(), lr=0.5)
        module(x).square().sum().backward()
        step.step()
        with torch.no_grad():
            self.check(compiled(x), module(x))
            module.load_state_dict(copy.deepcopy(self.network().state_dict()))
            self.check(compiled(x), module(x))

    def test_weights_of_inference_mode(self):
        with torch.inference_mode():
            module = self.network()
            compiled = torch.compile(module, backend="ingot")
            x = torch.randn(3, 4)
            self.check(compiled(x), module(x))
            module[0].weight.add_(1)  # of which torch keeps no version
            self.check(compiled(x), module(x))

    def test_tables_are_torchs_own(self):
        module = Tables().eval()
        sizes, compile_archive = [], ingot.dynamo._compiler.compile

        def measured(**options):
            sizes.append(len(options["data"]))
            return compile_archive(**options)

        compiled = torch.compile(module, backend="ingot", dynamic=True)
        args = torch.tensor([3, 0, 3, 2]), torch.tensor([0, 2, 2])
        with torch.no_grad(), unittest.mock.patch.object(ingot.dynamo._compiler, "compile",
                                                         measured):
            self.check(compiled(*args), module(*args))
            for table in (module.bags.weight, module.words.weight, module.rows):
                table.add_(1)
                self.check(compiled(*args), module(*args))
                table.data.mul_(3)  # torch does not count this as a version
                self.check(compiled(*args), module(*args))
        self.assertEqual(len(sizes), 1)
        self.assertLess(sizes[0], module.words.weight.nbytes)

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

    def test_results_that_share_memory(self):
        def views(x, w):
            y = x * 2
            return x.t(), y, y[1:], w

        def writes(x, w):
            x.add_(1)
            w[0] = x.sum()
            return x * w

        for function in (views, writes):
            with self.subTest(function.__name__), torch.no_grad():
                compiled = torch.compile(function, backend="ingot")
                x, w = torch.randn(3, 4), torch.randn(4)
                theirs = x.clone(), w.clone()
                got, want = compiled(x, w), function(*theirs)
                self.check(got, want)
                self.check((x, w), theirs)
        x, w = torch.randn(3, 4), torch.randn(4)
        with torch.no_grad():
            turned, _, _, same = torch.compile(views, backend="ingot")(x, w)
        self.assertEqual(turned.data_ptr(), x.data_ptr())
        self.assertEqual(same.data_ptr(), w.data_ptr())

    def test_one_tracing_where_that_is_enough(self):
        compiled = torch.compile(self.network(), backend="ingot")
        with torch.no_grad(), unittest.mock.patch.object(
                ingot.dynamo, "aot_module_simplified") as aot:
            compiled(torch.randn(3, 4))
        aot.assert_not_called()

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
        with torch.no_grad():
            torch.compile(lambda v: torch.linalg.eigvalsh(v) + torch.linalg.svdvals(v),
                          backend="ingot")(torch.eye(3))
        self.assertIn("_linalg_eigh", "".join(ingot.dynamo._reported))
        self.assertIn("_linalg_svd", "".join(ingot.dynamo._reported))  # all missing, at once
        self.assertEqual(len(ingot.dynamo._reported), 1)

    def test_open_views_that_share_memory(self):
        """AOTAutograd has no base for them, with any backend: storage of an open size."""
        def change(x, y):
            x.add_(1)
            return y * 2

        storage = torch.arange(8.0).untyped_storage()
        x, y = (torch.empty(0).set_(storage, first, (4,), (1,)) for first in (0, 2))
        with torch.no_grad():
            result = torch.compile(change, backend="ingot", dynamic=True)(x, y)
        self.assertEqual(result.tolist(), [6, 8, 8, 10])
        self.assertEqual(x.tolist(), [1, 2, 3, 4])

    def test_each_graph_that_runs_eagerly_is_said(self):
        def first(x):
            return torch.linalg.eigvalsh(x)

        def second(x):
            return torch.linalg.eigvalsh(x) + 1

        with torch.no_grad(), self.assertLogs("ingot", "WARNING") as logs:
            for function in (first, second, first):
                torch.compile(function, backend="ingot")(torch.eye(3))
        lines = [line for line in logs.output if "test_dynamo.py" in line and "eigh" in line]
        self.assertEqual(len(lines), 2)
        self.assertIn("in first", lines[0])
        self.assertIn("in second", lines[1])


if __name__ == "__main__":
    unittest.main()
