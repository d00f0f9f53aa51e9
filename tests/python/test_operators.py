"""Operators of the user's own: as Python, C and IR text, in models of every format.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import ingot
import ingot_runtime

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli/files"))
import tiny_onnx  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

SIGNATURE = "(%id: i64[N], %buckets: i64[]) -> (i64[N])"
TEXT = ROOT / "examples/custom/hash.ig"
IDS = np.array([1, 2, 99999, -5, 2**62, -2**63], "i8")


@ingot.operator(SIGNATURE)
def hashed(id, buckets):  # noqa: A002
    return id * 2654435761 % buckets


@ingot.operator("(%id: i64[N], %buckets: i64[]) -> (i64[K], i64[])")
def distinct(id, buckets):  # noqa: A002
    kept = np.unique(id % buckets)
    return kept, np.array(len(kept))


def compiled(function, **options):
    return ingot.compile(tiny_onnx.kinds["hash"](), ops={"acme::Hash": function}, cache="",
                         **options)


class Operators(unittest.TestCase):
    wanted = hashed(IDS, np.array(1000))

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = os.path.join(cls.folder.name, "libhash.so")
        compiler = os.environ.get("CC", "cc")
        if shutil.which(compiler):
            subprocess.run([compiler, "-shared", "-fPIC", f"-I{ROOT}/include",
                            str(ROOT / "examples/custom/hash.c"), "-o", cls.library], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ways(self):
        """The three, with the same numbers."""
        yield {"acme::Hash": hashed}
        yield TEXT
        if os.path.exists(self.library):
            yield [self.library]

    def test_onnx(self):
        for ops in self.ways():
            program = ingot.compile(tiny_onnx.kinds["hash"](), ops=ops, cache="")
            np.testing.assert_array_equal(program(IDS), self.wanted)
            self.assertTrue(program.verify(IDS))

    def test_a_file_wants_them_again(self):
        path = os.path.join(self.folder.name, "hash.ingot")
        compiled(hashed).save(path)
        with self.assertRaisesRegex(ingot.UnsupportedError, "acme::Hash .version 1."):
            ingot.load(path)
        program = ingot.load(path, ops={"acme::Hash": hashed})
        np.testing.assert_array_equal(program(IDS), self.wanted)
        if os.path.exists(self.library):
            program = ingot_runtime.Program(path, op_files=[self.library])
            np.testing.assert_array_equal(program(IDS), self.wanted)

    def test_extents_of_its_own(self):
        program = compiled(distinct)
        for ids in (IDS, IDS[:0], np.zeros(7, "i8")):
            np.testing.assert_array_equal(program(ids), np.unique(ids % 1000))

    def test_what_it_raises_is_said(self):
        @ingot.operator(SIGNATURE)
        def fails(id, buckets):  # noqa: A002
            raise KeyError("no such id")
        with self.assertRaisesRegex(ingot.InvalidError, "acme::Hash: KeyError: 'no such id'"):
            compiled(fails)(IDS)

    def test_results_that_do_not_fit(self):
        for results, words in ((IDS[:2], r"int64\[2\], its signature says int64\[6\]"),
                               (IDS.astype("f4"), "float32"), ((IDS, IDS), "2 results")):
            @ingot.operator(SIGNATURE)
            def wrong(id, buckets, results=results):  # noqa: A002
                return results
            with self.assertRaisesRegex(ingot.InvalidError, words):
                compiled(wrong)(IDS)

    def test_what_says_no_signature(self):
        with self.assertRaisesRegex(TypeError, "ingot.operator"):
            compiled(lambda id, buckets: id)

    def test_what_is_missing_names_the_ways(self):
        with self.assertRaisesRegex(ingot.UnsupportedError, "FILE.ig.*LIB.so.*ops="):
            ingot.compile(tiny_onnx.kinds["hash"]())

    def test_of_many_threads(self):
        program = compiled(hashed, threads=2)
        wrong = []

        def call(seed):
            ids = np.random.default_rng(seed).integers(-2**62, 2**62, 1000)
            for _ in range(20):
                if not np.array_equal(program(ids), hashed(ids, np.array(1000))):
                    wrong.append(seed)
        threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipUnless(torch, "torch is not installed")
    def test_torch(self):
        with torch.library._scoped_library("acme", "DEF") as library:
            library.define("Hash(Tensor id, int buckets) -> Tensor")
            library.impl("Hash", lambda id, buckets: id * 2654435761 % buckets, "CPU")
            library.impl("Hash", lambda id, buckets: torch.empty_like(id), "Meta")

            class Model(torch.nn.Module):
                def forward(self, ids):
                    return torch.ops.acme.Hash(ids, 1000) + 1

            ids = torch.from_numpy(IDS)
            exported = torch.export.export(Model(), (ids,))
            scripted = torch.jit.script(Model())
            for ops in self.ways():
                for model, inputs in ((exported, ()), (scripted, ["ids=i64[N]"])):
                    program = ingot.compile(model, inputs=inputs, ops=ops, cache="")
                    np.testing.assert_array_equal(program(ids), self.wanted + 1)


if __name__ == "__main__":
    unittest.main()
