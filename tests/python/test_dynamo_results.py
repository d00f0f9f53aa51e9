"""What torch.compile(backend="ingot") gives is of eager's type, dtype and strides.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import unittest
import warnings

try:
    import torch
except ImportError:
    torch = None
else:
    import ingot.dynamo


@unittest.skipUnless(torch, "torch is not installed")
class Results(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        torch.manual_seed(0)
        ingot.dynamo._reported.clear()

    def check(self, function, *calls, dynamic=False, same_strides=True):
        """Each call's result is eager's, and the graph was compiled."""
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="ingot", dynamic=dynamic)
        for args in calls:
            with self.subTest(args=[getattr(a, "shape", a) for a in args]), torch.no_grad():
                got, want = compiled(*copy.deepcopy(args)), function(*copy.deepcopy(args))
                self.assertIs(type(got), type(want))
                torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6, equal_nan=True)
                for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want))):
                    if same_strides and isinstance(b, torch.Tensor):
                        self.assertEqual(a.stride(), b.stride())
        self.assertEqual(ingot.dynamo._reported, set())

    def test_complex_results(self):
        a, b = torch.arange(5.0), torch.randn(5)
        self.check(torch.complex, (a, b))
        self.check(torch.polar, (a, b))
        self.check(lambda x: x.cfloat(), (a,))
        self.check(lambda x: x.cdouble(), (a.double(),))
        self.check(torch.fft.rfft, (torch.randn(3, 8),))
        self.check(torch.fft.ifft, (torch.complex(a, b),))
        self.check(torch.view_as_complex, (torch.randn(4, 3, 2),))
        self.check(lambda x: (torch.fft.fft(x).t() * 2, x + 1), (torch.randn(3, 4),))

    def test_data_that_eager_refuses(self):
        """Checks that decompositions write as asserts are held by the run."""
        one_hot = torch.compile(lambda x: torch.nn.functional.one_hot(x, 3), backend="ingot")
        self.assertEqual(one_hot(torch.tensor([0, 2])).tolist(), [[1, 0, 0], [0, 0, 1]])
        for bad in (3, -1):
            with self.assertRaisesRegex(ingot.Error, "Class values must be"):
                one_hot(torch.tensor([1, bad]))
        self.assertEqual(ingot.dynamo._reported, set())

    def test_linear_algebra_and_its_checks(self):
        """torch decomposes it into a call that gives info, and aten::_linalg_check_errors."""
        whole = torch.eye(3) * 2 + 0.1
        functions = (torch.linalg.inv, torch.linalg.cholesky, lambda x: torch.linalg.solve(x, x))
        with torch.no_grad(), self.assertNoLogs("ingot", "WARNING"):
            for function in functions:
                compiled = torch.compile(function, backend="ingot")
                torch.testing.assert_close(compiled(whole), function(whole))
                with self.assertRaisesRegex(ingot.InvalidError, "singular"):
                    compiled(-torch.ones(3, 3))

    def test_decomposed_graph_with_a_constant_of_its_own(self):
        def function(x):
            x = x.clone()
            x.unfold(-1, 2, 2).index_fill_(0, torch.tensor([0, 2]), -1)
            return x

        for dynamic in (False, True):
            self.check(function, (torch.randn(3, 4),), dynamic=dynamic)

    def test_complex_results_after_a_break(self):
        def function(x):
            y = torch.fft.rfft(x)
            torch._dynamo.graph_break()
            return torch.fft.irfft(y * 2)

        self.check(function, (torch.randn(8),))

    def test_complex_arguments(self):
        z = torch.complex(torch.randn(3, 4), torch.randn(3, 4))
        for function in (torch.abs, lambda z: z * z.conj(), lambda z: z.real + 1,
                         lambda z: (z @ z.t()).imag + 0, lambda z: z.sum(0)):
            self.check(function, (z,))
            self.check(function, (z.t().contiguous().conj(),))
        self.check(lambda z: z * 2 + 1, (z,), (z[:2, :3],), (z[:2, 1:],), dynamic=True)

    def test_complex_weights(self):
        w = torch.nn.Parameter(torch.complex(torch.randn(4), torch.randn(4)))
        self.check(lambda x: (w * x).abs(), (torch.randn(3, 4),))

    def test_strides_of_known_extents(self):
        x = torch.randn(2, 3, 4)
        for function in (lambda x: x.permute(2, 0, 1) * 2, lambda x: (x + 1)[:, :, ::2],
                         lambda x: (x + 1)[:, 1:2], lambda x: (x + 1).transpose(0, 1)[:1],
                         lambda x: (x + 1)[:, :1].expand(2, 3, 4),
                         lambda x: (x + 1).unfold(2, 3, 1), lambda x: (x + 1).mT,
                         lambda x: (x + 1)[:0].permute(2, 0, 1)):
            self.check(function, (x,))

    def test_strides_of_open_extents(self):
        calls = (torch.randn(2, 3, 4),), (torch.randn(5, 6, 7),), (torch.randn(3, 2, 9),)
        for function in (lambda x: x.permute(2, 0, 1) * 2, lambda x: (x + 1)[:, :, ::2],
                         lambda x: (x + 1)[:, :1].expand(x.shape), lambda x: (x + 1).mT,
                         lambda x: (x.transpose(0, 1) + 1).flatten(1)):
            self.check(function, *calls, dynamic=True)

    def test_strides_of_images(self):
        layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(),
                                     torch.nn.MaxPool2d(2)).eval()
        x = torch.randn(2, 3, 9, 9)
        self.check(layers.to(memory_format=torch.channels_last), (x,))
        self.check(lambda x: x.relu() + 1, (x.to(memory_format=torch.channels_last),))

    def test_code_that_reads_strides(self):
        def function(x):
            y = x.t() * 2
            torch._dynamo.graph_break()
            return y.as_strided((4,), (1,)), y.t().view(-1)

        self.check(function, (torch.arange(12.0).reshape(4, 3),))

    def test_no_tensor_argument(self):
        p = torch.nn.Parameter(torch.arange(3.0))
        self.check(lambda: torch.zeros(2, 3) + 1, ())
        self.check(lambda n: torch.arange(n) * 2, (5,), (7,))
        self.check(lambda n: torch.arange(n) * 2, (5,), (7,), (9,), dynamic=True)
        self.check(lambda: (p * 2).detach(), ())

        def function(x):
            mask = torch.zeros(4)
            torch._dynamo.graph_break()
            return x + mask.float()

        self.check(function, (torch.ones(4),))

    def test_constants_of_the_graph(self):
        x, table = torch.randn(3, 4), [[1.0, 2.0, 3.0, 4.0], [0.5, 0.0, 0.25, 2.0]]
        for function in (lambda x: x[[0, 2]] + 1, lambda x: x[torch.tensor([0, 2])],
                         lambda x: x * torch.tensor(2.5),
                         lambda x: torch.maximum(x, torch.tensor(0.1)),
                         lambda x: torch.where(x > 0, x, torch.tensor(-1.0)),
                         lambda x: x[:2] + torch.tensor(table),
                         lambda x: (torch.tensor([1.0, 2.0]), x + 1),
                         torch.nn.functional.logsigmoid):
            self.check(function, (x,))
            self.check(function, (x,), (torch.randn(3, 4),), dynamic=True)

    def test_constants_are_not_changed(self):
        def function(x):
            total = torch.tensor([1.0, 2.0])
            total += x
            return total

        x = torch.ones(2)
        self.check(function, (x,), (x,), (x * 3,))

    def test_results_that_share_memory(self):
        """A write to one behind a graph break is seen by the others."""
        def flat(x):
            made = x & x
            view = made.view(-1)
            torch._dynamo.graph_break()
            view.add_(3)
            return made, view

        def same(x):
            made = x + 1
            again = made
            torch._dynamo.graph_break()
            again.mul_(2)
            return made, again

        def parts(x):
            made = x + 1
            first, second = made.reshape(2, -1).t().split(1)
            torch._dynamo.graph_break()
            made.mul_(2)
            return made, first, second

        for dynamic in (False, True):
            for x in (torch.tensor(5), torch.tensor([[1, 2]]), torch.zeros(0, 3, dtype=torch.int64)):
                self.check(flat, (x,), dynamic=dynamic, same_strides=x.numel() > 0)
                self.check(same, (x,), dynamic=dynamic, same_strides=x.numel() > 0)
            self.check(parts, (torch.arange(4),), dynamic=dynamic)

    def test_results_that_share_memory_by_an_open_extent(self):
        def halves(x):
            made = x + 1
            half = made[:x.shape[0] // 2]
            torch._dynamo.graph_break()
            half.add_(3)
            return made, half

        for x in (torch.arange(6), torch.arange(9)):
            self.check(halves, (x,), dynamic=True)
        self.assertEqual(ingot.dynamo._reported, set())

    def test_results_that_are_parts_of_an_argument(self):
        """AOTAutograd makes them anew of the argument, from where the result begins."""
        def row(x):
            part = x[None, 0, int(bool(-1))]
            again = part.reshape_as(part)
            torch._dynamo.graph_break()
            return part, again

        def tail(x):
            part = x[x.shape[0] // 2:]
            torch._dynamo.graph_break()
            part.mul_(2)
            return part, x

        for dynamic in (False, True):
            self.check(row, (torch.arange(24).reshape(2, 3, 4),), dynamic=dynamic)
            self.check(tail, (torch.arange(10.).reshape(5, 2),), dynamic=dynamic)

    def test_results_that_the_graph_knows(self):
        """Numbers and None are results of a graph, and no tensors of its program."""
        def function(x, y):
            twice, is_less, rows = x * 2, 3.0 < 2.0, len(y)
            torch._dynamo.graph_break()
            return twice, is_less, rows, x

        for dynamic in (False, True):
            self.check(function, (torch.arange(4.), torch.ones(3, 2)), dynamic=dynamic)

    def test_decomposed_with_a_constant(self):
        """An operator that torch takes apart, in a graph that holds a tensor of its own."""
        def fill(x):
            rows = x.unfold(-1, 1, 1)
            rows.index_fill_(0, torch.tensor([0, 0]), -1)
            return x

        for dynamic in (False, True):
            self.check(fill, (torch.arange(6).reshape(2, 3),), dynamic=dynamic)


if __name__ == "__main__":
    unittest.main()
