"""ingot.train over ranks: processes that train one model come to the losses and weights of one.

SPDX-License-Identifier: Apache-2.0
"""
import multiprocessing
import os
import tempfile
import unittest

import numpy

import ingot
from ingot import train

WORLD, BATCH, STEPS, ROWS = 2, 4, 5, 11
SHARDS = {
    "by_rows": [{"rank": 0, "size": [6, 4], "offset": [0, 0]},
                {"rank": 1, "size": [5, 4], "offset": [6, 0]}],
    "by_columns": [{"rank": 0, "size": [11, 2], "offset": [0, 0]},
                   {"rank": 1, "size": [11, 2], "offset": [0, 2]}],
    "whole": [{"rank": 1, "size": [11, 4], "offset": [0, 0]}],
}
RULES = {"t": train.rowwise_adagrad(lr=0.5, eps=0.01), "w": train.adam(lr=0.01)}


def draw(shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype("f4")


def model_text():
    numbers = ", ".join(repr(float(x)) for x in draw((ROWS, 4)).ravel())
    return f"""module @m {{
  symbol B {{min = 1}}
  weight @t : f32[{ROWS}, 4] = [{numbers}] {{parameter}}
  weight @w : f32[4, 1] = [0.5, -0.75, 1, 0.25] {{parameter}}
  graph @main(%ids: i64[N], %ends: i64[B]) -> (f32[B - 1, 1] "y") {{
    %0 = bag @t, %ids, %ends {{operands = [1], pool = [sum], last = [offset]}} : f32[B - 1, 4]
    %1 = tanh %0 : f32[B - 1, 4]
    %2 = matmul %1, @w : f32[B - 1, 1]
    ret %2
  }}
}}
""".encode()


def batch(step, ranks):
    """Of these ranks, one after the other."""
    ids, ends, labels = [], [0], []
    for rank in ranks:
        rng = numpy.random.default_rng(100 * step + rank)
        lengths = rng.integers(0, 4, BATCH)
        ids.append(rng.integers(0, ROWS, lengths.sum()))
        ends += list(ends[-1] + numpy.cumsum(lengths))
        labels.append(rng.integers(0, 2, (BATCH, 1)).astype("f4"))
    return numpy.concatenate(ids), numpy.array(ends), numpy.concatenate(labels)


def plan_of(way):
    return {"world_size": WORLD, "tables": [
        {"name": "t", "sharding_type": "any", "shards": SHARDS[way]}]} if way in SHARDS else None


def trainer_of(way=None, ranks=None, **options):
    return train.Trainer(model_text(), "bce_logits:y=label", RULES, ranks=ranks,
                         plan=plan_of(way) if ranks else None, **options)


def work(rank, group, folder, queue):
    """One rank: each way, five steps, and two that go on from what others had."""
    out, ranks = {}, train.Ranks(group, rank, WORLD, timeout=30)
    for way in (*SHARDS, "replicated"):
        trainer = trainer_of(way, ranks)
        losses = [trainer.step(*batch(i, [rank])) for i in range(STEPS)]
        state = trainer.state_dict()
        again = trainer_of(way, ranks)
        again.load_state_dict(state)
        after = [t.step(*batch(STEPS, [rank])) for t in (trainer, again)]
        out[way] = losses, state, after, sorted(trainer.weights)
        trainer.save_model(os.path.join(folder, f"{way}.ingot"))
        trainer.save(os.path.join(folder, f"{way}{rank}.step.ingot"))
        made = train.Trainer(os.path.join(folder, f"{way}{rank}.step.ingot"), ranks=ranks)
        assert made.step(*batch(0, [rank])) == losses[0]
        assert set(made.state_dict()) == set(state)
        del trainer, again, made
    ranks.close()
    queue.put((rank, out))


class OverRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        spawn = multiprocessing.get_context("spawn")
        queue = spawn.Queue()
        group = f"shm:test-train-{os.getpid()}"
        workers = [spawn.Process(target=work, args=(rank, group, cls.folder.name, queue))
                   for rank in range(WORLD)]
        for worker in workers:
            worker.start()
        try:
            cls.ranks = dict(queue.get(timeout=100) for _ in workers)
        finally:
            for worker in workers:
                worker.join(timeout=10)
                worker.kill()
        cls.whole = trainer_of()
        cls.losses = [cls.whole.step(*batch(i, range(WORLD))) for i in range(STEPS)]
        cls.state = cls.whole.state_dict()
        cls.next_loss = cls.whole.step(*batch(STEPS, range(WORLD)))

    def test_losses_are_those_of_one_rank(self):
        for way in (*SHARDS, "replicated"):
            for rank in range(WORLD):
                losses, _, after, _ = self.ranks[rank][way]
                with self.subTest(way, rank=rank):
                    self.assertEqual(losses, self.ranks[0][way][0])
                    if way in ("by_rows", "whole"):
                        numpy.testing.assert_allclose(losses, self.losses, rtol=1e-5)
                        self.assertAlmostEqual(after[0], self.next_loss, delta=1e-5)
                    self.assertEqual(after[0], after[1])

    def test_states_are_whole_on_all_ranks(self):
        for way in (*SHARDS, "replicated"):
            first, second = (self.ranks[rank][way][1] for rank in range(WORLD))
            with self.subTest(way):
                self.assertEqual(sorted(first), sorted(self.state))
                for name, value in first.items():
                    numpy.testing.assert_array_equal(value, second[name])
                    if way in ("by_rows", "whole"):
                        numpy.testing.assert_allclose(value, self.state[name], rtol=1e-4, atol=1e-6)
                        self.assertEqual(value.shape, self.state[name].shape)

    def test_weights_are_parts(self):
        self.assertEqual([self.ranks[rank]["by_rows"][3] for rank in range(WORLD)],
                         [["t.0", "w"]] * 2)
        self.assertEqual(self.ranks[1]["by_columns"][3], ["t.1", "w"])
        self.assertEqual([self.ranks[rank]["whole"][3] for rank in range(WORLD)],
                         [["w"], ["t", "w"]])

    def test_one_rank_goes_on_from_several(self):
        trainer = trainer_of()
        trainer.load_state_dict(self.ranks[0]["by_rows"][1])
        loss = trainer.step(*batch(STEPS, range(WORLD)))
        self.assertAlmostEqual(loss, self.ranks[0]["by_rows"][2][0], delta=1e-6)

    def test_the_trained_model_is_whole(self):
        ids, ends, _ = batch(9, range(WORLD))
        want = self.whole.predict(ids, ends)
        program = ingot.load(os.path.join(self.folder.name, "by_rows.ingot"))
        numpy.testing.assert_allclose(program(ids, ends), want, rtol=1e-4, atol=1e-5)

    def test_wrong_words_are_said(self):
        ranks = train.Ranks("self")
        with self.assertRaisesRegex(TypeError, "goes with ranks"):
            train.Trainer(model_text(), "bce_logits:y=label", RULES, plan={})
        with self.assertRaisesRegex(TypeError, "division is one of"):
            trainer_of(ranks=ranks, division="half")
        with self.assertRaisesRegex(ingot.InvalidError, "no rank 2 in a world of 2"):
            train.Ranks("shm:test-train-none", 2, 2)
        with self.assertRaisesRegex(ingot.InvalidError, "of rank 0 of 2, and this is rank 0 of 1"):
            trainer_of("by_rows", ranks)


if __name__ == "__main__":
    unittest.main()
