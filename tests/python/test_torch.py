"""Programs from torch, called with torch's tensors.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import dataclasses
import gc
import io
import sys
import tempfile
import unittest
import warnings
import zipfile

import ingot
import leaks
import models

try:
    import torch
except ImportError:
    torch = None

Pair = collections.namedtuple("Pair", "x y")

if torch is not None:
    @dataclasses.dataclass
    class Answer:
        hidden: torch.Tensor
        past: list = None
        more: torch.Tensor = None

    torch.export.register_dataclass(Answer, serialized_type_name="test_torch.Answer")

    class Queries(torch.nn.Module):
        def forward(self, answer):
            return Answer(answer.hidden * 2, more=answer.past[0] + 1)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 3)
            self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

        def forward(self, x, scale=2.0):
            self.seen += 1
            return {"y": self.fc(x).relu() * scale, "seen": self.seen.clone()}


@unittest.skipUnless(torch, "torch is not installed")
class Torch(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(0)

    def check(self, program, module, *args):
        got, want = program(*args), module(*args)
        self.assertIsInstance(got, torch.Tensor)
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)

    def test_a_module(self):
        module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU())
        program = ingot.compile(module, (torch.randn(3, 4),), ({0: torch.export.Dim("b")},))
        self.assertTrue(module.training)
        for batch in (1, 3, 7, 0):
            self.check(program, module, torch.randn(batch, 4))

    def test_an_exported_program_and_a_traced_one(self):
        module = torch.nn.Linear(4, 2)
        x = torch.randn(3, 4)
        exported = torch.export.export(module, (x,))
        self.check(ingot.compile(exported), module, x)
        traced = torch.jit.trace(module, x)
        self.check(ingot.compile(traced, inputs=["0=f32[B, 4]"]), module, torch.randn(9, 4))

    def test_vmaps_in_vmaps(self):
        class Mapped(torch.nn.Module):
            def forward(self, x):
                rows = torch.vmap(lambda r: torch.vmap(lambda e: e * r.sum())(r))(x)
                dots = torch.vmap(lambda a: torch.vmap(lambda b: (a * b).sum())(x))(x)
                pair = torch.vmap(lambda a: torch.vmap(lambda b, c: b.dot(c),
                                                       in_dims=(0, 1))(a, a.t()))
                return rows, dots, pair(torch.stack([x, -x]))

        x = torch.tensor([[1., -2, 0.5], [float("inf"), 3, -0.0], [4, 5, float("nan")]])
        program = ingot.compile(torch.export.export(Mapped(), (x,), strict=True))
        torch.testing.assert_close(program(x), Mapped()(x), equal_nan=True)

    def test_a_dataclass_is_a_dict_of_the_fields_that_are_set(self):
        given = Answer(torch.randn(3), past=[torch.randn(2)])
        program, want = ingot.compile(Queries(), (given,)), Queries()(given)
        for call in (given, {"hidden": given.hidden, "past": given.past}):
            got = program(call)
            self.assertEqual(list(got), ["hidden", "more"])
            torch.testing.assert_close(got["hidden"], want.hidden)
            torch.testing.assert_close(got["more"], want.more)
        with self.assertRaises(TypeError):
            program(Answer(given.hidden))

    def test_a_keyed_jagged_tensor_of_an_exported_program(self):
        try:
            from torchrec import KeyedJaggedTensor, KeyedTensor
        except ImportError:
            self.skipTest("torchrec is not installed")

        class Sums(torch.nn.Module):
            def forward(self, k):
                sums = torch.ops.fbgemm.segment_sum_csr(1, k.offsets(), k.weights())
                return KeyedTensor(["one"], [4], sums.view(1, 4))

        given = KeyedJaggedTensor(["a", "b"], torch.arange(6), torch.randn(6),
                                  lengths=torch.tensor([2, 0, 1, 3]))
        given.offsets()
        got, want = ingot.compile(Sums(), (given,))(given), Sums()(given)
        self.assertEqual(list(got.keys()), ["one"])
        torch.testing.assert_close(got["one"], want["one"])

    def test_examples_say_the_types_of_a_script(self):
        module, x = torch.nn.Linear(4, 2), torch.randn(3, 4)
        traced = torch.jit.trace(module, x)
        self.check(ingot.compile(traced, (x,)), module, x)
        for dim in ("B", torch.export.Dim("B"), torch.export.Dim.DYNAMIC):
            program = ingot.compile(traced, (x,), ({0: dim},))
            self.check(program, module, torch.randn(9, 4))
        self.assertIn("matmul", ingot.dump(traced, "import", example_inputs=(x,)))
        with tempfile.TemporaryDirectory() as folder:
            traced.save(f"{folder}/m.pt")
            self.check(ingot.compile(f"{folder}/m.pt", x), module, x)
        plain = torch.jit.trace(lambda x: x + 1, x)
        self.check(ingot.compile(plain, x), lambda x: x + 1, x)
        with self.assertRaises(TypeError):
            ingot.compile(traced, ("x",))
        with self.assertRaises(TypeError):
            ingot.compile(traced, (x,), (None, None))

    def test_quantised_recurrent_layers_of_open_steps(self):
        """Steps that the run counts, in both directions, of two layers; none is an error."""
        for kind in torch.nn.LSTM, torch.nn.GRU:
            layer = kind(4, 3, 2, bidirectional=True, batch_first=True)
            layer = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(layer), {kind})
            x = torch.randn(2, 5, 4)
            with tempfile.NamedTemporaryFile(suffix=".pt") as file:
                torch.jit.trace(layer, x, check_trace=False).save(file.name)
                program = ingot.compile(file.name, inputs=["0=f32[B, T, 4]"])
            for shape in (2, 5, 4), (1, 1, 4), (3, 7, 4):
                x = torch.randn(shape)
                for got, want in zip(torch.utils._pytree.tree_leaves(program(x)),
                                     torch.utils._pytree.tree_leaves(layer(x)), strict=True):
                    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
            with self.assertRaisesRegex(ValueError, "must be from 1"):
                program(torch.randn(2, 0, 4))

    def test_tensors_made_of_extents(self):
        """torch.export writes promote_types, whose result nothing uses."""
        class Sizes(torch.nn.Module):
            def forward(self, x):
                return torch.tensor([x.size(0), x.size(1) * 2])

        both = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        program = ingot.compile(Sizes(), (torch.ones(3, 5),), (both,))
        self.assertEqual(program(torch.ones(0, 7)).tolist(), [0, 14])

    def test_state_and_fixed_arguments(self):
        module = Net().eval()
        program = ingot.compile(module, (torch.randn(2, 4), 2.0))
        for i in (1, 2, 3):
            got = program(torch.randn(2, 4), 2.0)
            self.assertEqual(int(got["seen"]), int(module.seen) + i)
        with self.assertRaises(TypeError):
            program(torch.randn(2, 4), 3.0)

    def test_kinds_of_tensors(self):
        module = torch.nn.Linear(4, 2)
        program = ingot.compile(module, (torch.randn(3, 4),), ({0: torch.export.Dim("b")},))
        wide = torch.randn(6, 8)
        for x in (wide[::2, ::2], wide.t()[:4, :4].t(), torch.nn.Parameter(torch.randn(2, 4)),
                  torch.randn(1, 4).expand(5, 4), torch.randn(2, 4).requires_grad_()):
            self.check(program, module, x)
        with self.assertRaises(TypeError):
            program(torch.randn(3, 4).double())

    def test_tensors_of_other_kinds(self):
        class Sub(torch.Tensor):
            pass

        program, x = ingot.compile(models.ADD), torch.arange(6.0).reshape(2, 3)
        negated = torch.complex(x, x).conj().imag
        small = torch.complex(x[:1, :1], x[1:, 1:2]).conj().imag.expand(2, 3)
        with torch.inference_mode():
            inference = x + 1
        for y in (x.as_subclass(Sub), negated, small, torch._neg_view(x), inference, x[:, :1].expand(2, 3)):
            self.assertTrue(torch.equal(program(y, x), (y + x).as_subclass(torch.Tensor)))
        for y, words in ((x.to("meta"), "host's memory"), (x.to_sparse(), "host's memory"),
                         (x.to_sparse_csr(), "host's memory"),
                         (torch.complex(x, x), "got a complex number"),
                         (torch.quantize_per_tensor(x, 1.0, 0, torch.quint8), "host's memory"),
                         (torch.nested.nested_tensor([x[0], x[1]]), "host's memory"),
                         (x.bfloat16(), "got bf16"), (x.int(), "got i32")):
            for args in ((y, x), (x, y)):
                with self.assertRaisesRegex(TypeError, words):
                    program(*args)
        if torch.cuda.is_available():
            with self.assertRaisesRegex(TypeError, r"\.cpu\(\)"):
                program(x.cuda(), x)

    def test_complex_tensors(self):
        class Product(torch.nn.Module):
            def forward(self, z):
                return z * z.conj() + 1, z.real + 0

        z = torch.complex(torch.randn(3, 4), torch.randn(3, 4))
        program = ingot.compile(Product(), (z,))
        for y in (z, z.conj(), z.t().contiguous().t(), (z * 1j).conj()):
            for got, want in zip(program(y), Product()(y)):
                torch.testing.assert_close(got, want)
        for got, want in zip(program(z.numpy()), Product()(z)):
            self.assertEqual(got.dtype, want.numpy().dtype)
            torch.testing.assert_close(torch.from_numpy(got), want)
        with self.assertRaisesRegex(TypeError, r"args\[0\]"):
            program(z.real.contiguous())
        one = torch.complex(torch.tensor(2.0), torch.tensor(-1.0))
        torch.testing.assert_close(ingot.compile(Product(), (one,))(one), Product()(one))
        traced = ingot.compile(torch.jit.trace(Product(), z), (z,), dynamic_shapes=({0: "B"},))
        for y in (z, z[:2], z.conj()):
            torch.testing.assert_close(traced(y), Product()(y))

    def test_types_made_at_run_time(self):
        program = ingot.compile(models.ADD)
        before = len(gc.get_objects())
        for i in range(500):
            kind = type(f"Sub{i}", (torch.Tensor,), {})
            program(torch.ones(1, 3).as_subclass(kind), torch.ones(1, 3))
        del kind
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 500)

    def test_calls_leak_nothing(self):
        program, x = ingot.compile(models.ADD), torch.ones(1, 3)
        meta, negated = x.to("meta"), torch.complex(x, x).conj().imag

        def calls(count):
            for _ in range(count):
                program(x, y=x)
                program(negated, x)
                try:
                    program(x, meta)
                except TypeError:
                    pass

        calls(100)
        none = sys.getrefcount(x)
        leaks.check(self, calls)
        self.assertEqual(sys.getrefcount(x), none)

    def test_half_precision(self):
        class Twice(torch.nn.Module):
            def forward(self, x):
                return x + x

        for dtype in (torch.bfloat16, torch.float16):
            x = torch.randn(3, 4).to(dtype)
            got = ingot.compile(Twice(), (x,))(x)
            self.assertEqual(got.dtype, dtype)
            self.assertTrue(torch.equal(got, x + x))

    def test_sums_of_halves_are_rounded_as_torchs(self):
        class Sum(torch.nn.Module):
            def __init__(self, beta, alpha):
                super().__init__()
                self.beta, self.alpha = beta, alpha

            def forward(self, x, a, b):
                return torch.addbmm(x, a, b, beta=self.beta, alpha=self.alpha)

        torch.manual_seed(0)
        for dtype in (torch.bfloat16, torch.float16):
            for beta, alpha, count in ((1, 1, 1), (0.5, 2, 5), (0, 1, 2), (1, 0.6, 20)):
                model = Sum(beta, alpha)
                given = [torch.randn(shape).to(dtype)
                         for shape in ((4, 6), (count, 4, 5), (count, 5, 6))]
                wanted = model(*given)
                got = ingot.compile(model, tuple(given))(*given)
                steps = (got.view(torch.int16).int() - wanted.view(torch.int16).int()).abs()
                self.assertLessEqual(int(steps.max()), 1)

    def test_arguments_that_the_call_changes(self):
        class Change(torch.nn.Module):
            def forward(self, x):
                x.add_(1)
                return x * 2

        x = torch.zeros(2, 3)
        program = ingot.compile(Change(), (torch.zeros(2, 3),))
        self.assertTrue(torch.equal(program(x), torch.full((2, 3), 2.0)))
        self.assertTrue(torch.equal(x, torch.ones(2, 3)))
        wide = torch.zeros(2, 6)
        program(wide[:, ::2])
        self.assertTrue(torch.equal(wide[:, ::2], torch.ones(2, 3)))
        self.assertTrue(torch.equal(wide[:, 1::2], torch.zeros(2, 3)))

    def test_operators_that_write_to_their_arguments(self):
        class Writes(torch.nn.Module):
            def forward(self, x, z):
                y, a = x + 1, x.clone()
                torch.ops.ingot_test.mul_(y, x)
                torch.ops.ingot_test.mul_(a[1:], z)
                torch.ops.ingot_test.mul_(a[:, 2], z[0, :3])  # with strides
                torch.ops.ingot_test.mul_(x, x)
                return y * 3, a, y - a

        def write_product(self, other):
            self.mul_(other)

        with torch.library._scoped_library("ingot_test", "DEF") as library:
            library.define("mul_(Tensor(a!) self, Tensor other) -> ()")
            library.impl("mul_", write_product, "CompositeExplicitAutograd")
            torch.library.register_fake("ingot_test::mul_", lambda self, other: None,
                                        lib=library)
            args = torch.randn(3, 4), torch.randn(2, 4)
            given = args[0].clone(), args[1]
            want = Writes()(*given)
            exported = torch.export.export(Writes(), args).run_decompositions({})
            file = io.BytesIO()
            torch.export.save(exported, file)
        archive = io.BytesIO()  # with the operator that ours stands for
        with zipfile.ZipFile(file) as old, zipfile.ZipFile(archive, "w") as new:
            for name in old.namelist():
                new.writestr(name, old.read(name).replace(
                    b"torch.ops.ingot_test.mul_.default", b"torch.ops.aten.mul_.Tensor"))
        self.assertIn(b"auto_functionalized_v2", archive.getvalue())
        got = ingot.compile(archive.getvalue())(*args)
        for g, w in zip((*got, args[0]), (*want, given[0]), strict=True):
            torch.testing.assert_close(g, w)

    def test_weights_of_a_class_of_their_own(self):
        class Mine(torch.Tensor):
            pass

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("w", torch.arange(3.0).as_subclass(Mine))

            def forward(self, x):
                return x * self.w

        Mine.__qualname__ = "Mine"
        sys.modules[Mine.__module__].Mine = Mine  # where pickle looks for it
        self.addCleanup(delattr, sys.modules[Mine.__module__], "Mine")
        exported = torch.export.export(Module(), (torch.randn(3),))
        x = torch.randn(3)
        torch.testing.assert_close(ingot.compile(exported)(x), x * torch.arange(3.0))

    def test_named_tuples(self):
        torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")

        class Swap(torch.nn.Module):
            def forward(self, p):
                return [p.y, p.x]

        p = Pair(torch.ones(2), torch.zeros(3))
        got = ingot.compile(Swap(), (p,))(p)
        self.assertEqual([tuple(t.shape) for t in got], [(3,), (2,)])


if __name__ == "__main__":
    unittest.main()
