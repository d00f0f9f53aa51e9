"""ingot.dynamic: training over a part of a table is training over all of it.

TorchRec's tests of dynamic embedding (the precision test, those of the parameter server
and of collections) over memory, LMDB and Redis.  SPDX-License-Identifier: Apache-2.0
"""
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import weakref
from types import SimpleNamespace

try:
    import torch
    from torchrec import EmbeddingCollection, EmbeddingConfig, KeyedJaggedTensor

    import ingot.dynamic as tde
except ImportError as error:
    raise unittest.SkipTest(f"no torch with TorchRec here: {error}") from None

ROWS, CACHED, DIM, STEPS = 1000, 100, 16, 100


def jagged(*ids, keys=("id",)):
    """Each feature one bag a row of ids."""
    values = torch.tensor([i for feature in ids for i in feature])
    lengths = torch.tensor([1 for feature in ids for _ in feature])
    return KeyedJaggedTensor(keys=list(keys), values=values, lengths=lengths)


class Model(torch.nn.Module):
    """A table that is looked up, with gradients of the looked up rows alone."""

    def __init__(self, rows, init=torch.nn.init.ones_):
        super().__init__()
        self.emb = torch.nn.Module()
        self.emb.id = torch.nn.Embedding(rows, DIM, sparse=True)
        init(self.emb.id.weight)
        self.config = SimpleNamespace(name="id", embedding_dim=DIM, num_embeddings=rows,
                                      feature_names=["id"], init_fn=init)

    def forward(self, kjt):
        scale = torch.arange(1, DIM + 1) / DIM
        return (self.emb.id(kjt.values()) * scale).pow(2).sum()


class Folder(unittest.TestCase):
    def setUp(self):
        gc.collect()  # stores of other tests in memory
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def redis(self):
        """The URL of a server of one's own."""
        program = shutil.which("redis-server")
        if not program:
            self.skipTest("no redis-server")
        path = f"{self.folder}/socket"
        server = subprocess.Popen([program, "--port", "0", "--unixsocket", path, "--dir",
                                   self.folder, "--save", ""], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(600):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        return f"redis://{path}?prefix=model"

    def urls(self):
        yield "memory://"
        yield f"lmdb://{self.folder}/rows.mdb?sync=no"
        if shutil.which("redis-server"):
            yield self.redis()


def train(model, loader, optimizer):
    losses = []
    for kjt in loader:
        optimizer.zero_grad()
        loss = model(kjt)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def states_of(optimizer, parameter):
    state = optimizer.state[parameter]
    return [state["exp_avg"], state["exp_avg_sq"]]


class Precision(Folder):
    """100 rows of 1,000 in memory, Adam at 0.1, 100 steps of 4 x 10 ids."""

    def compare(self, url, **options):
        generator = torch.Generator().manual_seed(1)
        batches = [jagged(torch.randint(ROWS, (40,), generator=generator).tolist())
                   for _ in range(STEPS)]
        whole, part = Model(ROWS), Model(CACHED)
        adam = [torch.optim.SparseAdam(m.parameters(), lr=0.1) for m in (whole, part)]
        loader, part = tde.wrap(url, batches, part, {"emb": [part.config]},
                                optimizer=adam[1], **options)
        self.assertEqual(len(loader), STEPS)
        losses = train(whole, batches, adam[0])
        for a, b in zip(losses, train(part, loader, adam[1]), strict=True):
            self.assertLess(abs(a - b), 1e-7)
        tde.save(part)
        self.check_rows(url, whole, adam[0])

    def check_rows(self, url, whole, adam):
        """What the store has is what the whole table has, to the bit."""
        other = Model(ROWS)
        second = torch.optim.SparseAdam(other.parameters(), lr=0.1)
        loader, _ = tde.wrap(url, [jagged(list(range(ROWS)))], other,
                             {"emb": [other.config]}, optimizer=second)
        rows = next(iter(loader)).values()
        tensors = [(other.emb.id.weight, whole.emb.id.weight),
                   *zip(states_of(second, other.emb.id.weight),
                        states_of(adam, whole.emb.id.weight))]
        for stored, expected in tensors:
            self.assertTrue(torch.equal(stored.detach()[rows], expected.detach()))

    def test_training_a_part_is_training_all(self):
        for url in self.urls():
            with self.subTest(url.split(":")[0]):
                self.compare(url)
        self.compare(f"lmdb://{self.folder}/naive.mdb?sync=no", parallel=False,
                     transform_config={"type": "naive"})

    def test_rows_in_use_stay(self):
        """More batches ahead than there are rows for: the loader waits, and nothing is
        evicted that a queued batch needs."""
        self.compare(f"lmdb://{self.folder}/queue.mdb?sync=no", num_prefetch=50)


class Collections(Folder):
    def batches(self, url, ids, rows=4, init=2.0, **options):
        model = Model(rows, lambda w: torch.nn.init.constant_(w, init))
        loader, model = tde.wrap(url, [jagged(i) for i in ids], model,
                                 {"emb": [model.config]}, **options)
        return loader, model, model.emb.id.weight.detach()

    def test_rows_come_back_as_they_were_evicted(self):
        """4 rows: {1, 2, 3, 4}, then {1, 2, 5, 6} evicts 3 and 4, and they return."""
        loader, _, weight = self.batches(f"lmdb://{self.folder}/c.mdb?sync=no", [[1, 2, 3, 4], [1, 2, 5, 6], [3, 4]],
                                         eviction_config={"evict_rows": 2})
        of = {}
        for index, kjt in enumerate(loader):
            rows = kjt.values().tolist()
            if index == 0:
                self.assertTrue((weight == 2).all())
                for id, row in zip([1, 2, 3, 4], rows):
                    weight[row] = of[id] = id * 10.0
            elif index == 1:
                self.assertTrue((weight[rows[0]] == 10).all() and (weight[rows[1]] == 20).all())
                self.assertTrue((weight[rows[2:]] == 2).all())  # new ones begin anew
            else:
                self.assertTrue((weight[rows[0]] == 30).all() and (weight[rows[1]] == 40).all())
        self.assertEqual(index, 2)

    def test_ids_that_no_store_has_leave_the_models_rows(self):
        model = Model(8, lambda w: None)
        before = model.emb.id.weight.detach().clone()
        model.config.init_fn = torch.nn.init.zeros_
        loader, _ = tde.wrap("memory://", [jagged([7, 2**62, 7])], model,
                             {"emb": [model.config]})
        rows = next(iter(loader)).values()
        self.assertEqual(rows.tolist(), [0, 1, 0])
        self.assertTrue(torch.equal(model.emb.id.weight.detach(), before))

    def test_several_features_tables_and_modules(self):
        model = torch.nn.Module()
        configs = [EmbeddingConfig(name="t", embedding_dim=4, num_embeddings=10,
                                   feature_names=["a", "b"]),
                   EmbeddingConfig(name="u", embedding_dim=4, num_embeddings=10,
                                   feature_names=["c"])]
        model.one = EmbeddingCollection(tables=configs)
        model.two = torch.nn.Embedding(10, 4)
        other = SimpleNamespace(name="v", embedding_dim=4, num_embeddings=10,
                                feature_names=["d"])
        first = jagged([100, 200], [300, 100], [5, 100], keys=("a", "b", "c"))
        second = jagged([9], keys=("d",))
        urls = []
        loader, same = tde.wrap(lambda *where: urls.append(where) or "memory://",
                                [("label", second, first)], model,
                                {"one": configs, "two": [other]},
                                data_info={2: "one", 1: "two"})
        self.assertIs(same, model)
        self.assertEqual(urls, [("one", "t"), ("one", "u"), ("two", "v")])
        label, b, a = next(iter(loader))
        self.assertEqual(label, "label")
        self.assertEqual(a.values().tolist(), [0, 1, 2, 0, 0, 1])
        self.assertEqual(a.keys(), ["a", "b", "c"])
        self.assertEqual(b.values().tolist(), [0])
        model.one(a)

    def test_saving_is_incremental_and_survives(self):
        url = f"lmdb://{self.folder}/s.mdb?sync=no"
        loader, model, weight = self.batches(url, [[1, 2], [2, 3]])
        for kjt in loader:
            for row in kjt.values():
                weight[row] += 1
            tde.save(model)
        _ = [tde.save(model) for _ in range(2)]
        loader, _, weight = self.batches(url, [[3, 2, 1, 4]], init=0.5)
        rows = next(iter(loader)).values()
        self.assertEqual(weight[rows][:, 0].tolist(), [3, 4, 3, 0.5])


class Rows(Folder):
    def test_a_release_while_a_fetch_fails_is_waited_for(self):
        model = Model(8)
        loader, _ = tde.wrap("memory://", [], model, {"emb": [model.config]}, parallel=False)
        table, = loader.tables
        fetch, failures = table.fetch, []

        def fail_once(ids, now):
            if not failures:  # and the batch before is released at this very moment
                failures.append(now)
                loader.released = now - 1
                raise tde.LimitError("all rows are in use")
            return fetch(ids, now)

        table.fetch = fail_once
        rows = loader._fetch(table, torch.tensor([5, 6]), 3, None)
        self.assertEqual((len(rows), failures), (2, [3]))

    def test_closing_ends_tables_and_stores(self):
        model = Model(4)
        loader, _ = tde.wrap(f"lmdb://{self.folder}/closed.mdb", [jagged([1, 2])], model,
                             {"emb": [model.config]})
        self.assertEqual(len(list(loader)), 1)
        store = weakref.ref(loader.tables[0].store)
        tde.close(model)
        self.assertIsNone(store())
        with self.assertRaisesRegex(tde.InvalidError, "closed"):
            list(loader)

    def test_plug_ins_are_finalized_at_the_end_of_a_program(self):
        library = os.path.join(os.environ["PYTHONPATH"].split(":")[0], "..", "unit",
                               "libtest_store_v1.so")
        if not os.path.exists(library):
            self.skipTest("no test_store_v1")
        with open(f"{self.folder}/program.py", "w") as file:
            file.write("import sys; sys.path.insert(0, sys.argv[1])\n"
                       "import test_dynamic as t, torch\n"
                       "torch.ops.tde.register_io(sys.argv[2])\n"
                       "m = t.Model(4)\n"
                       "loader, _ = t.tde.wrap('toy1://x', [t.jagged([1])], m,\n"
                       "                       {'emb': [m.config]})\n"
                       "m.itself = [m, loader]  # lives as long as the process\n"
                       "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(loader))\n")
        report = f"{self.folder}/told"
        subprocess.run([sys.executable, f"{self.folder}/program.py",
                        os.path.dirname(os.path.abspath(__file__)), library],
                       env={**os.environ, "TOY_FINALIZED": report}, check=True)
        self.assertTrue(os.path.exists(report))


class Errors(Folder):
    def test_what_cannot_be_is_said(self):
        model = Model(4)
        wrap = lambda url="memory://", path="emb": tde.wrap(  # noqa: E731
            url, [jagged([1, 2, 3, 4, 5])], model, {path: [model.config]})
        with self.assertRaisesRegex(tde.UnsupportedError, "no stores of type 'nowhere'"):
            wrap("nowhere://x")
        with self.assertRaisesRegex(tde.InvalidError, "no table 'id' at 'other'"):
            wrap(path="other")
        with self.assertRaisesRegex(tde.LimitError, "use all of its 4 rows"):
            list(wrap()[0])
        loader, _ = tde.wrap("memory://", [jagged([-1])], model, {"emb": [model.config]})
        with self.assertRaisesRegex(tde.InvalidError, "ids must be 0 or more"):
            list(loader)
        loader, _ = tde.wrap("memory://", [jagged([1], keys=("x",))], model,
                             {"emb": [model.config]})
        with self.assertRaisesRegex(tde.InvalidError, "no table has the feature 'x'"):
            list(loader)
        with self.assertRaisesRegex(tde.InvalidError, "was not wrapped"):
            tde.save(Model(4))
        with self.assertRaises(tde.FileError):
            tde.register_io(f"{self.folder}/none.so")

    def test_errors_of_the_source_are_raised_and_a_break_ends_the_thread(self):
        def source():
            yield jagged([1])
            raise KeyError("broken")
        model = Model(4)
        loader, _ = tde.wrap("memory://", source(), model, {"emb": [model.config]})
        with self.assertRaises(KeyError):
            list(loader)
        loader, _ = tde.wrap("memory://", [jagged([1])] * 100, model, {"emb": [model.config]})
        for _ in loader:
            break

    def test_plug_ins_are_registered_by_either_name(self):
        library = os.path.join(os.environ["PYTHONPATH"].split(":")[0], "..", "unit",
                               "libtest_store_v1.so")
        if not os.path.exists(library):
            self.skipTest("no test_store_v1")
        torch.ops.tde.register_io(library)
        model = Model(4)
        loader, _ = tde.wrap("toy1://x", [jagged([1, 2])], model, {"emb": [model.config]})
        self.assertEqual(next(iter(loader)).values().tolist(), [0, 1])


class Fused(Folder):
    """The program of TorchRec's page, with an optimiser that is fused into the tables."""

    PROGRAM = """
import os, sys, torch
import torch.distributed as dist
import ingot.dynamic as tde
from torch import nn
from torchrec import EmbeddingCollection, EmbeddingConfig, KeyedJaggedTensor
from torchrec.distributed import DistributedModelParallel
from torchrec.distributed.embedding import EmbeddingCollectionSharder
from fbgemm_gpu.split_embedding_configs import EmbOptimType
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo", init_method="file://" + sys.argv[1] + "/meet", rank=0,
                        world_size=1)

class Model(nn.Module):
    def __init__(self, config1, config2):
        super().__init__()
        self.emb1 = EmbeddingCollection(tables=config1, device=torch.device("meta"))
        self.emb2 = EmbeddingCollection(tables=config2, device=torch.device("meta"))
    def forward(self, kjt1, kjt2):
        one, two = self.emb1(kjt1)["a"].values(), self.emb2(kjt2)["b"].values()
        return (one * two).pow(2).sum()

def make(rows):
    configs = [[EmbeddingConfig(name=n, embedding_dim=16, num_embeddings=rows,
                feature_names=[n], init_fn=torch.nn.init.ones_)] for n in "ab"]
    m = Model(*configs)
    sharder = EmbeddingCollectionSharder(fused_params={
        "optimizer": EmbOptimType.EXACT_ADAGRAD, "learning_rate": 0.1})
    return configs, DistributedModelParallel(m, device=torch.device("cpu"),
                                             sharders=[sharder])

def kjt(key, ids):
    return KeyedJaggedTensor(keys=[key], values=ids, lengths=torch.ones(len(ids), dtype=torch.int64))

torch.manual_seed(1)
batches = [(step, kjt("a", torch.randint(1000, (40,))), kjt("b", torch.randint(1000, (40,))))
           for step in range(100)]
_, whole = make(1000)
(config1, config2), m = make(100)
dataloader, m = tde.wrap(sys.argv[2], batches, m, {"emb1": config1, "emb2": config2})
steps = 0
for (_, x, y), (label, kjt1, kjt2) in zip(batches, dataloader):
    want, output = whole(x, y), m(kjt1, kjt2)
    want.backward(); output.backward()
    assert label == steps and abs(want.item() - output.item()) < 1e-7, (label, want, output)
    steps += 1
tde.save(m)
assert max(kjt1.values()) < 100 and steps == 100
print("states", [len(t.tensors) for l in tde._loaders[m] for t in l.tables])
"""

    def test_the_page_s_program_trains_as_the_whole_tables_do(self):
        for url in (f"lmdb://{self.folder}/f.mdb?sync=no", self.redis()):
            ran = subprocess.run([os.sys.executable, "-c", self.PROGRAM, self.folder, url],
                                 capture_output=True, text=True)
            if "Error" in ran.stderr and "fbgemm" in ran.stderr.splitlines()[-1]:
                self.skipTest(ran.stderr.splitlines()[-1])
            self.assertEqual(ran.returncode, 0, ran.stderr[-2000:])
            self.assertIn("states [2, 2]", ran.stdout)


if __name__ == "__main__":
    unittest.main()
