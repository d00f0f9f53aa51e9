"""torch.compile(backend="ingot") with gradients: forward and backward are programs.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import unittest
import unittest.mock
import warnings

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    torch = None
else:
    import ingot.dynamo

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True,
                                                    activation="gelu")
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(self.layer(x)).mean((1, 2))

    class Cross(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList([nn.Parameter(torch.randn(8, 8) / 10)
                                             for _ in range(2)])
            self.biases = nn.ParameterList([nn.Parameter(torch.zeros(8)) for _ in range(2)])
            self.out = nn.Linear(8, 1)

        def forward(self, x):
            y = x
            for weight, bias in zip(self.weights, self.biases):
                y = x * (y @ weight + bias) + y
            return self.out(y).squeeze(1)

    class Bags(nn.Module):
        def __init__(self, mode, **options):
            super().__init__()
            self.bags = nn.EmbeddingBag(30, 8, mode=mode, **options)
            self.rows, self.out = nn.Embedding(30, 8), nn.Linear(16, 1)

        def forward(self, ids, offsets=None):
            bags = self.bags(ids, offsets)
            rows = self.rows(ids).reshape(bags.shape[0], -1, 8).sum(1)
            return self.out(torch.cat([bags, rows], 1)).squeeze(1)

    class Recommender(nn.Module):
        """A DLRM: bags and a bottom for dense features, whose products in pairs a top weighs."""

        def __init__(self, tables=3, dim=8):
            super().__init__()
            self.bags = nn.ModuleList(nn.EmbeddingBag(40 + 10 * i, dim, mode="sum")
                                      for i in range(tables))
            self.bottom = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, dim), nn.ReLU())
            pairs = torch.tril_indices(tables + 1, tables + 1, -1)
            self.register_buffer("pairs", pairs[0] * (tables + 1) + pairs[1])
            self.top = nn.Sequential(nn.Linear(dim + len(self.pairs), 16), nn.ReLU(),
                                     nn.Linear(16, 1))

        def forward(self, dense, ids):
            x = self.bottom(dense)
            rows = torch.stack([x, *(bag(ids[:, i]) for i, bag in enumerate(self.bags))], 1)
            products = torch.bmm(rows, rows.transpose(1, 2)).flatten(1)[:, self.pairs]
            return self.top(torch.cat([x, products], 1)).squeeze(1)

    class Pictures(nn.Module):
        def __init__(self, pool):
            super().__init__()
            self.first = nn.Conv2d(1, 4, 3, padding=1)
            self.second = nn.Conv2d(4, 8, 3, stride=2, groups=2, bias=False)
            self.pool, self.out = pool, nn.Linear(8, 1)

        def forward(self, x):
            x = self.pool(torch.relu(self.first(x)), 2)
            return self.out(torch.tanh(self.second(x)).mean((2, 3))).squeeze(1)

    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = nn.Linear(8, 4, bias=False), nn.BatchNorm1d(4)
            self.out = nn.Linear(4, 1)

        def forward(self, x):
            return self.out(torch.tanh(self.norm(self.first(x)))).squeeze(1)


@unittest.skipIf(torch is None, "no torch")
class Gradients(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        torch.manual_seed(0)
        ingot.dynamo._reported.clear()

    def train(self, module, batches, **options):
        """As eager trains, with nothing left to eager; how many programs were made."""
        eager, compiled = copy.deepcopy(module), torch.compile(module, backend="ingot", **options)
        ours, theirs = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (module, eager))
        compile_program, made = ingot.dynamo._compiler.compile, []
        with unittest.mock.patch.object(ingot.dynamo._compiler, "compile",
                                        lambda **k: made.append(k) or compile_program(**k)):
            for inputs, label in batches:
                losses = [functional.binary_cross_entropy_with_logits(m(*inputs), label)
                          for m in (compiled, eager)]
                ours.zero_grad()
                theirs.zero_grad()
                for loss in losses:
                    loss.backward()
                ours.step()
                theirs.step()
                self.assertAlmostEqual(losses[0].item(), losses[1].item(), delta=1e-6)
        self.assertEqual(ingot.dynamo._reported, set())
        for name, value in eager.state_dict().items():
            torch.testing.assert_close(module.state_dict()[name], value, rtol=1e-5, atol=2e-6)
        return len(made)

    def batches(self, make, count=20, size=6):
        return [((make(size),), torch.rand(size).round()) for _ in range(count)]

    def check_fifty(self, module, batches):
        """Fifty steps: two programs, of the first step; later ones compile nothing."""
        self.assertEqual(len(batches), 50)
        self.assertEqual(self.train(module, batches), 2)

    def test_perceptrons(self):
        module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 1),
                               nn.Flatten(0))
        self.check_fifty(module, self.batches(lambda b: torch.randn(b, 8), 50))

    def test_forward_keeps_what_backward_takes_as_it_is(self):
        """Row by row, whatever strides the graph was traced with, and no view of anything."""
        call, halves = ingot.dynamo.CompiledGraph.__call__, []
        with unittest.mock.patch.object(ingot.dynamo.CompiledGraph, "__call__",
                                        lambda *a: halves.append(a) or call(*a)):
            self.train(Attention(), self.batches(lambda b: torch.randn(b, 5, 16), 2))
        self.assertEqual(len(halves), 4)
        for half, *args in halves:
            self.assertEqual(half.hooks, [])
            self.assertTrue(all(x.is_contiguous() for x in args))
        kept = [node for node in halves[0][0].module.graph.nodes if node.op == "output"]
        self.assertFalse([n for n in kept[0].args[0] if n.target in (
            torch.ops.aten.view.default, torch.ops.aten.permute.default)])

    def test_backward_that_runs_eagerly_takes_what_forward_keeps(self):
        compile_program, made = ingot.dynamo._compiler.compile, []

        def refuse_second(**options):
            made.append(options)
            if len(made) == 2:
                raise ingot.dynamo.ingot_runtime.UnsupportedError("not this one")
            return compile_program(**options)

        module, x = Attention(), torch.randn(6, 5, 16)
        eager = copy.deepcopy(module)
        with unittest.mock.patch.object(ingot.dynamo._compiler, "compile", refuse_second):
            torch.compile(module, backend="ingot")(x).sum().backward()
        eager(x).sum().backward()
        self.assertEqual(len(ingot.dynamo._reported), 1)
        for ours, theirs in zip(module.parameters(), eager.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-5, atol=2e-6)

    def test_recommender(self):
        self.check_fifty(Recommender(), [
            ((torch.randn(6, 5), torch.randint(0, 40, (6, 3, 4))), torch.rand(6).round())
            for _ in range(50)])

    def test_attention(self):
        self.check_fifty(Attention(), self.batches(lambda b: torch.randn(b, 5, 16), 50))

    def test_cross_layers(self):
        self.train(Cross(), self.batches(lambda b: torch.randn(b, 8)))

    def test_embeddings(self):
        for mode in ("sum", "mean", "max"):
            with self.subTest(mode):
                torch._dynamo.reset()
                self.train(Bags(mode), self.batches(lambda b: torch.randint(0, 30, (b, 4))))

    def test_bags_of_offsets(self):
        for mode in ("sum", "mean", "max"):
            for last in (False, True):
                with self.subTest(mode=mode, last=last):
                    torch._dynamo.reset()
                    offsets = torch.arange(0, 24 + last, 4)
                    self.train(Bags(mode, include_last_offset=last), [
                        ((torch.randint(0, 30, (24,)), offsets), torch.rand(6).round())
                        for _ in range(5)])

    def test_pictures(self):
        for pool in (functional.max_pool2d, functional.avg_pool2d):
            with self.subTest(pool.__name__):
                torch._dynamo.reset()
                self.check_fifty(Pictures(pool),
                                 self.batches(lambda b: torch.randn(b, 1, 12, 12), 50))

    def test_norms_of_batches(self):
        self.train(Normed(), self.batches(lambda b: torch.randn(b, 8), 5))

    def test_one_graph_for_several_batches(self):
        module = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
        made = self.train(module, [((torch.randn(b, 8),), torch.rand(b).round())
                                   for b in (4, 6, 5, 9, 4)], dynamic=True)
        self.assertEqual(made, 2)

    def test_little_is_kept_of_bags(self):
        graphs, make = [], ingot.dynamo.CompiledGraph.__init__

        def keep(graph, *given):
            make(graph, *given)
            graphs.append(graph)

        with unittest.mock.patch.object(ingot.dynamo.CompiledGraph, "__init__", keep):
            self.train(Recommender(), [((torch.randn(6, 5), torch.randint(0, 40, (6, 3, 1))),
                                        torch.rand(6).round()) for _ in range(3)])
        forward = graphs[0].module.graph
        kept = next(n for n in forward.nodes if n.op == "output").args[0]
        numbers = [n for n in kept if n.meta["val"].dtype == torch.int64]
        self.assertLessEqual(len(numbers), 3, numbers)  # ids: no sizes, no offsets
        self.assertEqual(graphs[0].hooks, [])  # nothing is turned and turned back

    def test_backward_may_be_eager(self):
        def refuse_second(graph, *given):
            made.append(graph)
            if len(made) > 1:
                raise NotImplementedError("by the test")
            make(graph, *given)

        make = ingot.dynamo.CompiledGraph.__init__
        ids, offsets = torch.randint(0, 30, (24,)), torch.arange(0, 24, 4)
        for mode in ("sum", "mean", "max"):
            with self.subTest(mode):
                torch._dynamo.reset()
                module, made = Bags(mode), []
                eager = copy.deepcopy(module)
                with self.assertLogs("ingot"), unittest.mock.patch.object(
                        ingot.dynamo.CompiledGraph, "__init__", refuse_second):
                    torch.compile(module, backend="ingot")(ids, offsets).sum().backward()
                eager(ids, offsets).sum().backward()
                for own, other in zip(module.parameters(), eager.parameters(), strict=True):
                    torch.testing.assert_close(own.grad, other.grad)
                ingot.dynamo._reported.clear()

    def test_gradients_of_inputs(self):
        x = torch.randn(4, 8, requires_grad=True)
        torch.compile(lambda v: (v * v).sum(), backend="ingot")(x).backward()
        torch.testing.assert_close(x.grad, 2 * x.detach())
        self.assertEqual(ingot.dynamo._reported, set())

    def check_gradients(self, function, *inputs):
        """Of the results' weighted sum by the inputs, as eager's, with nothing left to eager."""
        torch._dynamo.reset()
        found = []
        for call in (function, torch.compile(function, backend="ingot")):
            given = [x.clone().requires_grad_() for x in inputs]
            results = call(*given)
            total = sum((y * torch.linspace(0.5, 1.5, y.numel()).view(y.shape)).sum()
                        for y in results)
            found.append((results, torch.autograd.grad(total, given)))
        torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)
        self.assertEqual(ingot.dynamo._reported, set())

    def test_operators_that_check_what_they_take(self):
        def solve(x):
            square = x @ x.T + 4 * torch.eye(4)
            return (torch.linalg.cholesky(square), torch.linalg.inv(square),
                    torch.linalg.solve(square, x))
        self.check_gradients(solve, torch.randn(4, 4))
        factor = torch.compile(torch.linalg.cholesky, backend="ingot")
        with self.assertRaisesRegex(ingot.dynamo.ingot_runtime.Error, "singular"):
            factor(-torch.eye(3).requires_grad_())

    def test_samples_of_pictures(self):
        def sample(x, grid):
            return (functional.adaptive_max_pool2d(x, (2, 3)),
                    functional.grid_sample(x, grid, align_corners=False),
                    functional.cosine_embedding_loss(x[:, 0, 0], x[:, 0, 1], torch.ones(2)))
        self.check_gradients(sample, torch.randn(2, 2, 5, 7), torch.rand(2, 3, 3, 2) * 2 - 1)

    def test_weights_of_samples_and_what_masks_take(self):
        ids, offsets = torch.tensor([1, 3, 5, 1, 19]), torch.tensor([0, 2, 2])

        def weigh(table, weights, x, y):
            bags = functional.embedding_bag(ids, table, offsets, mode="sum",
                                            per_sample_weights=weights, padding_idx=3)
            return (bags, x.masked_scatter(x > 0, y), functional.pdist(x), functional.rrelu(x),
                    functional.pdist(y.view(6, 5), 3.0))
        x = torch.randn(6, 5)
        x[1] = x[0]  # a distance of 0
        x[2, :2] = torch.tensor([0.0, -0.0])
        self.check_gradients(weigh, torch.randn(20, 4), torch.randn(5), x, torch.randn(30))


if __name__ == "__main__":
    unittest.main()
