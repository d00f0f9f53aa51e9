"""ingot.train: a step against torch's own, weights where torch has them, and back in a model.

SPDX-License-Identifier: Apache-2.0
"""
import copy
import os
import tempfile
import unittest

import numpy

import ingot
from ingot import train

try:
    import torch
except ImportError:
    torch = None

MODEL = """module @m {
  symbol B {min = 0}
  weight @w : f32[2, 1] = [0.5, -0.75]
  weight @b : f32[1] = [0.25]
  graph @main(%x: f32[B, 2]) -> (f32[B, 1] "y") {
    %0 = matmul %x, @w : f32[B, 1]
    %1 = add %0, @b : f32[B, 1]
    ret %1
  }
}
"""
X = numpy.array([[1, 2], [-1, 0.5], [3, -2]], "f4")
Y = numpy.array([[0], [1], [2]], "f4")


class Arrays(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def trainer(self, optimizers=None, **options):
        return train.Trainer(MODEL.encode(), "mse:y=want", optimizers or train.sgd(lr=0.1),
                             **options)

    def test_steps_are_those_of_the_formula(self):
        trainer = self.trainer()
        self.assertEqual([name for name, _ in trainer.inputs], ["x", "want"])
        w, b = numpy.array([[0.5], [-0.75]]), numpy.array([0.25])
        for _ in range(5):
            off = X @ w + b - Y
            self.assertAlmostEqual(trainer.step(X, Y), (off ** 2).mean(), places=5)
            w, b = w - 0.2 * X.T @ off / 3, b - 0.2 * off.mean()
        numpy.testing.assert_allclose(trainer.weights["w"], w, rtol=1e-5)
        numpy.testing.assert_allclose(trainer.predict(X), X @ w + b, rtol=1e-5)
        loss, y = trainer.evaluate(want=Y, x=X)
        numpy.testing.assert_array_equal(y, trainer.predict(x=X))
        self.assertEqual(loss, trainer.step(X, Y))
        self.assertEqual(trainer.step_count, 6)

    def test_gradients_are_accumulated(self):
        each, whole = self.trainer(accumulate=2), self.trainer()
        for _ in range(3):
            loss = each.step(X, Y)
            self.assertEqual(loss, each.step(X, Y))
            self.assertEqual(loss, whole.step(X, Y))
        numpy.testing.assert_allclose(each.weights["w"], whole.weights["w"], rtol=1e-6)

    def test_training_goes_on(self):
        whole, first, second = (self.trainer(train.adam(lr=0.1)) for _ in range(3))
        losses = [whole.step(X, Y) for _ in range(4)]
        first.step(X, Y)
        second.load_state_dict(first.state_dict())
        self.assertEqual([second.step(X, Y) for _ in range(3)], losses[1:])
        numpy.testing.assert_array_equal(second.weights["w"], whole.weights["w"])
        self.assertEqual(sorted(whole.states), ["b.momentum1", "b.momentum2", "w.momentum1",
                                                "w.momentum2"])
        with self.assertRaises(ingot.InvalidError):
            second.load_state_dict({"w": X})
        wrong = {**first.state_dict(), "w": X}
        with self.assertRaisesRegex(ingot.InvalidError, "'w' has another dtype"):
            second.load_state_dict(wrong)

    def test_an_artifact_trains(self):
        made = self.trainer()
        made.save(self.path("step.ingot"))
        opened = train.Trainer(self.path("step.ingot"))
        self.assertEqual([opened.step(X, Y) for _ in range(3)],
                         [made.step(X, Y) for _ in range(3)])
        with self.assertRaises(ingot.InvalidError):
            opened.program()
        with self.assertRaises(TypeError):
            train.Trainer(self.path("step.ingot"), "mse:y=want")

    def test_a_trained_model_is_a_model(self):
        trainer = self.trainer()
        before = trainer.predict(X)
        for _ in range(3):
            trainer.step(X, Y)
        trainer.save_model(self.path("model.ingot"))
        for program in (trainer.program(), ingot.load(self.path("model.ingot"))):
            got = numpy.asarray(program(X))
            numpy.testing.assert_allclose(got, trainer.predict(X), rtol=1e-6)
            self.assertFalse(numpy.allclose(got, before))

    def test_rates_are_written_to(self):
        trainer = self.trainer({"b": train.sgd(lr=0.5), "*": train.sgd(lr=0.1)})
        numpy.testing.assert_array_equal(trainer.rates, [0.5, 0.1])
        trainer.rates[:] = 0
        before = trainer.state_dict()
        trainer.step(X, Y)
        for name in ("w", "b"):
            numpy.testing.assert_array_equal(trainer.weights[name], before[name])

    def test_wrong_words_are_said(self):
        with self.assertRaisesRegex(ingot.InvalidError, "no output 'z'"):
            train.Trainer(MODEL.encode(), "mse:z=want")
        with self.assertRaisesRegex(ingot.InvalidError, "nobody"):
            self.trainer({"nobody": train.sgd()})
        trainer = self.trainer()
        with self.assertRaisesRegex(TypeError, "missing.*want"):
            trainer.step(X)
        with self.assertRaises(TypeError):
            trainer.step(X, Y, z=Y)
        with self.assertRaises(TypeError):
            trainer.step(X.astype("c8"), Y)
        with self.assertRaises(ingot.InvalidError):
            trainer.step(X.astype("f8"), Y)
        self.assertEqual(trainer.step_count, 0)


if torch is not None:
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.EmbeddingBag(50, 8, mode="sum", include_last_offset=True)
            self.bottom, self.top = torch.nn.Linear(12, 16), torch.nn.Linear(16, 1)

        def forward(self, x, ids, offsets):
            rows = self.table(ids, offsets)
            return self.top(torch.tanh(self.bottom(torch.cat([x, rows], 1)))).squeeze(1)


@unittest.skipIf(torch is None, "no torch")
class Torch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.net = Net()
        self.inputs = (torch.randn(8, 4), torch.randint(0, 50, (20,)),
                       torch.tensor([0, 2, 4, 7, 9, 12, 14, 17, 20]))
        self.label = torch.rand(8).round()

    def trainer(self):
        return train.Trainer(self.net, "bce_logits:=label", {
            "table.*": train.rowwise_adagrad(lr=0.1, eps=1e-8), "*": train.adam(lr=0.01)},
            example_inputs=self.inputs)

    def test_losses_are_eagers_and_parameters_change_in_place(self):
        eager, sums = copy.deepcopy(self.net), torch.zeros(50)
        dense = [p for name, p in eager.named_parameters() if not name.startswith("table")]
        adam, trainer = torch.optim.Adam(dense, lr=0.01), self.trainer()
        version = self.net.table.weight._version
        for _ in range(20):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                eager(*self.inputs), self.label)
            eager.zero_grad()
            loss.backward()
            with torch.no_grad():
                g = eager.table.weight.grad
                sums += (g * g).mean(1)
                eager.table.weight -= 0.1 * g / (sums.sqrt() + 1e-8)[:, None]
            adam.step()
            self.assertAlmostEqual(trainer.step(*self.inputs, self.label), loss.item(), delta=1e-6)
        for ours, theirs in zip(self.net.parameters(), eager.parameters()):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)
        self.assertGreater(self.net.table.weight._version, version)
        torch.testing.assert_close(torch.from_numpy(trainer.predict(*self.inputs)),
                                   self.net(*self.inputs).detach(), rtol=0, atol=1e-5)

    def test_what_others_write_is_seen(self):
        trainer = self.trainer()
        trainer.predict(*self.inputs)
        with torch.no_grad():
            for parameter in self.net.parameters():
                parameter.zero_()
        self.assertFalse(trainer.predict(*self.inputs).any())

    def test_an_id_out_of_range_changes_nothing(self):
        trainer = self.trainer()
        before = [p.detach().clone() for p in self.net.parameters()]
        x, ids, offsets = self.inputs
        with self.assertRaises(ingot.InvalidError):
            trainer.step(x, ids + 49, offsets, self.label)
        for parameter, old in zip(self.net.parameters(), before):
            self.assertTrue(torch.equal(parameter, old))

    def dropping(self, ratio, lr=0.01, threads=1):
        torch.manual_seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(),
                                  torch.nn.Dropout(ratio), torch.nn.Linear(64, 1))
        x, y = torch.randn(64, 8), torch.randn(64, 1)
        return net, x, y, train.Trainer(net, "mse:=label", {"*": train.sgd(lr=lr)},
                                        example_inputs=(x,), threads=threads)

    def test_dropout_draws_by_the_number_of_the_step(self):
        _, x, y, trainer = self.dropping(0.25)
        losses = [trainer.step(x, y) for _ in range(6)]
        _, x, y, other = self.dropping(0.25, threads=3)
        self.assertEqual(losses, [other.step(x, y) for _ in range(6)])
        _, x, y, begun = self.dropping(0.25)
        first = [begun.step(x, y) for _ in range(2)]
        kept = begun.state_dict()
        _, x, y, resumed = self.dropping(0.25)
        resumed.load_state_dict(kept)
        self.assertEqual(losses, first + [resumed.step(x, y) for _ in range(4)])
        _, x, y, still = self.dropping(0.25, lr=0)
        self.assertEqual(len({still.step(x, y) for _ in range(6)}), 6)

    def test_nothing_is_dropped_where_a_model_is_tried(self):
        net, x, y, trainer = self.dropping(0.5)
        for _ in range(3):
            trainer.step(x, y)
        self.assertEqual(int(net[1].num_batches_tracked), 3)
        net.eval()
        with torch.no_grad():
            want = net(x)
        torch.testing.assert_close(torch.from_numpy(trainer.predict(x)), want, rtol=0, atol=1e-6)
        loss = torch.nn.functional.mse_loss(want, y).item()
        self.assertAlmostEqual(trainer.evaluate(x, y)[0], loss, delta=1e-6)

    def test_all_or_nothing_dropped(self):
        net, x, y, trainer = self.dropping(1.0)
        trainer.step(x, y)
        self.assertTrue(all(torch.isfinite(p).all() for p in net.parameters()))
        torch.manual_seed(3)
        net, x, y, trainer = self.dropping(0.0)
        eager = copy.deepcopy(net)
        sgd = torch.optim.SGD(eager.parameters(), lr=0.01)
        for _ in range(5):
            loss = torch.nn.functional.mse_loss(eager(x), y)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            self.assertAlmostEqual(trainer.step(x, y), loss.item(), delta=1e-6)
        torch.testing.assert_close(net[1].running_var, eager[1].running_var, rtol=0, atol=1e-6)

    def test_shares_are_kept(self):
        class Dropped(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(1000))

            def forward(self, x):
                y, kept = torch.native_dropout(x * self.w, 0.2, True)
                return torch.where(kept, y, 0.0)

        x = torch.ones(100, 1000)
        trainer = train.Trainer(Dropped(), "sum:", {"*": train.sgd(lr=0)},
                                example_inputs=(x,))
        self.assertAlmostEqual(trainer.step(x) / 100000, 1, delta=0.01)
        self.assertEqual(trainer.evaluate(x)[0], 100000)


if __name__ == "__main__":
    unittest.main()
