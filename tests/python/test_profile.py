"""ingot.profile: the programs of octoml-profile's documentation, its tables, and more.

`goldens/*.txt` hold what is printed; of programs, without the times.  INGOT_BLESS=1 writes
them.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

try:
    import torch
except ImportError:
    torch = None
else:
    import ingot.profile as profile
    from ingot.profile import record, report

HERE = pathlib.Path(__file__).resolve().parent


def stored(test, name, text):
    path = HERE / "goldens" / name
    if os.environ.get("INGOT_BLESS"):
        path.write_text(text, encoding="utf-8")
    test.assertEqual(path.read_text(encoding="utf-8"), text)


def without_times(text, usable):
    """Columns of one blank, and no lines of backends that are not installed here."""
    text = re.sub(r"\d+\.\d{3}", "#", text)
    text = re.sub(r" (available|not available: .*)$", " …", text, flags=re.M)
    text = re.sub(r"[=-]{5,}", lambda rule: rule[0][0] * 5, text)
    lines = [re.sub(r"(\S) +", r"\1 ", line) for line in text.splitlines()
             if "onnxrt" not in line or "local/onnxrt-cpu" in usable or "…" in line]
    return "\n".join(lines) + "\n"


def samples(*times_ms, failed=None, off=0.0):
    one = record.BackendSamples([int(t * 1e6) for t in times_ms], difference=off,
                                memory_bytes=1_234_567)
    if failed:
        one.failures, one.errors, one.difference = 10, {failed: 10}, None
    return one


def group(*segments, was_compiled=False):
    return record.Group(list(segments), 1, was_compiled)


@unittest.skipUnless(torch, "torch is not installed")
class Tables(unittest.TestCase):
    def report(self):
        local = record.LocalSegment
        one = group(local([28_000] * 9), record.GraphSegment(1, {
            "r6i.large/onnxrt-cpu": samples(*[0.013] * 90),
            "g4dn.xlarge/onnxrt-cuda": samples(*[0.088] * 89, 0.888)}), local([13_400] * 9))
        two = group(local([1_001_051_000]), record.GraphSegment(1, {
            "r6i.large/onnxrt-cpu": samples(0.007, 0.009, off=0.25),
            "g4dn.xlarge/onnxrt-cuda": samples(failed="could not be loaded: no memory")}),
            local([100_150_000]), record.GraphSegment(2, {
                "r6i.large/onnxrt-cpu": samples(0.007),
                "g4dn.xlarge/onnxrt-cuda": samples(0.001)}), local([1_000_766_000]))
        three = group(local([5]), record.GraphSegment(3, {
            "r6i.large/onnxrt-cpu": samples(0.5),
            "g4dn.xlarge/onnxrt-cuda": samples(0.25)}), local([5]), was_compiled=True)
        prices = report.read_prices(None)
        profiles = [report.Profile.of("predict", g, prices) for g in (one, two, three)]
        return report.Report(profiles, 3, 1e-3, "a processor")

    def test_text(self):
        for name, verbose in (("profile.txt", False), ("profile-verbose.txt", True)):
            out = io.StringIO()
            self.report().print(file=out, verbose=verbose)
            stored(self, name, out.getvalue())

    def test_json_and_csv(self):
        whole = json.loads(self.report().to_json())
        total = whole["profiles"][0]["total_per_backend"]["r6i.large/onnxrt-cpu"]
        self.assertAlmostEqual(total["estimated_total_ms"], 0.0544)
        self.assertAlmostEqual(total["cost_per_million"], 0.0544 * 0.126 / 3.6)
        wrong = self.report()
        wrong.profiles[0].segments[1].results["r6i.large/onnxrt-cpu"].max_difference = \
            float("inf")
        self.assertIn('"max_difference": "inf"', wrong.to_json())
        rows = list(csv.DictReader(io.StringIO(self.report().to_csv())))
        self.assertEqual(len(rows), (4 + 2) + (7 + 2) + (4 + 2))
        self.assertEqual(rows[1]["graph"], "1")
        self.assertEqual(float(rows[1]["p95_ms"]), 0.013)

    def test_page(self):
        page = self.report().to_html()
        self.assertEqual(page.count('<div class="bar">'), 6)
        self.assertEqual(page.count('title="0 Uncompiled'), 4)
        self.assertIn("no memory", page)
        self.assertNotIn("http", page)
        with tempfile.TemporaryDirectory() as folder:
            for form in ("json", "csv", "html"):
                self.report().save(os.path.join(folder, f"r.{form}"))
            with self.assertRaisesRegex(ValueError, "xml"):
                self.report().save("r.xml")

    def test_cost_as_published(self):
        """A total of 52.009 ms at 0.126 dollars an hour costs 1.82 dollars a million."""
        one = group(record.LocalSegment([9_000]), record.GraphSegment(1, {
            "r6i.large/x": samples(52.0)}), record.LocalSegment([0]))
        total = report.Profile.of("f", one, {"r6i.large": 0.126}).total_per_backend
        self.assertEqual(f"{total['r6i.large/x'].cost_per_million:.2f}", "1.82")

    def test_percentiles(self):
        self.assertEqual(report.percentile([4, 1, 3, 2], 50), 2.5)
        self.assertEqual(report.percentile([7], 95), 7)
        self.assertAlmostEqual(report.percentile(list(range(101)), 95), 95)

    def test_differences(self):
        nan, inf = float("nan"), float("inf")
        for a, b, off in (([1.0, nan], [1.0, nan], 0), ([inf], [inf], 0), ([nan], [1.0], inf),
                          ([inf], [1.0], inf), ([100.0], [101.0], 1 / 101), ([0.5], [0.25], 0.25),
                          ([1.0], [1.0, 2.0], inf), ([], [], 0)):
            got = record.difference([torch.tensor(a)], [torch.tensor(b)])
            self.assertAlmostEqual(got, off, msg=(a, b)) if off != inf else \
                self.assertEqual(got, inf)


@unittest.skipUnless(torch, "torch is not installed")
class Programs(unittest.TestCase):
    """With only the import changed."""

    def check(self, name):
        usable = profile.get_supported_backends()
        done = subprocess.run([sys.executable, "-W", "ignore", HERE / f"programs/{name}.py"],
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = HERE / "goldens" / f"{name}.txt"
        if os.environ.get("INGOT_BLESS"):
            path.write_text(without_times(done.stdout, usable), encoding="utf-8")
        want = without_times(path.read_text(encoding="utf-8"), usable)
        self.assertEqual(without_times(done.stdout, usable), want)

    def test_hello(self):
        self.check("hello")

    def test_breaks(self):
        self.check("breaks")

    def test_simple(self):
        self.check("simple")


SERVER = pathlib.Path(os.environ.get("INGOT_BUILD", HERE.parents[1] / "build/release"),
                      "ingot-serve")
HAS_GRPC = all(importlib.util.find_spec(name) for name in ("grpc", "google"))


@unittest.skipUnless(torch and HAS_GRPC and SERVER.exists(),
                     "torch, grpcio or ingot-serve is not there")
class Remote(unittest.TestCase):
    """On an `ingot worker`."""

    @classmethod
    def setUpClass(cls):
        cls.worker = subprocess.Popen(
            [SERVER.with_name("ingot"), "worker", "--host", "remote", "--quiet", "--python",
             sys.executable, "--http-port", "-1", "--grpc-port", "0"],
            stdout=subprocess.PIPE, text=True)
        cls.address = cls.worker.stdout.readline().strip().removeprefix("grpc://")

    @classmethod
    def tearDownClass(cls):
        cls.worker.terminate()
        cls.worker.wait()
        cls.worker.stdout.close()

    def test_hello(self):
        """The program as it is, its table with the worker's backends."""
        there = {**os.environ, "INGOT_PROFILE_SERVER": self.address}
        done = subprocess.run([sys.executable, "-W", "ignore", HERE / "programs/hello.py"],
                              text=True, capture_output=True, env=there)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("local/", done.stdout)
        usable = profile.get_supported_backends()
        said = without_times(done.stdout.replace("remote/", "local/"), usable)
        text = (HERE / "goldens/hello.txt").read_text(encoding="utf-8")
        self.assertEqual(said, without_times(text, usable))

    def session(self, *names):
        return profile.RemoteInferenceSession([f"remote/{n}" for n in names],
                                              server_addr=self.address)

    def test_results(self):
        weight = torch.randn(6, 4)

        @profile.accelerate
        def predict(x, ids):
            return torch.relu(x @ weight).sum(1) + ids.to(torch.float32), ids * 2, x > 0

        for backend in ("ingot-cpu", "torch-eager-cpu"):
            with self.session(backend) as session, profile.remote_inference(session):
                for rows in (3, 1, 0):
                    x, ids = torch.randn(rows, 6), torch.arange(rows)
                    x[:1, 0] = float("nan")
                    expected = torch.relu(x @ weight).sum(1) + ids, ids * 2, x > 0
                    for got, want in zip(predict(x, ids), expected):
                        self.assertEqual(got.dtype, want.dtype)
                        torch.testing.assert_close(got, want, equal_nan=True)

    def test_weights_that_change(self):
        layer = torch.nn.Linear(4, 2)
        predict = profile.accelerate(lambda x: layer(x))
        x = torch.randn(3, 4)
        with self.session("ingot-cpu") as session, profile.remote_inference(session):
            for _ in range(2):
                torch.testing.assert_close(predict(x), torch.nn.functional.linear(
                    x, layer.weight, layer.bias))
                with torch.no_grad():
                    layer.weight.mul_(2)

    def test_failures(self):
        with self.assertRaisesRegex(ValueError, "no machine 'r6i.large'"):
            with profile.remote_profile(backends="r6i.large/x", server_addr=self.address):
                pass
        with self.assertRaisesRegex(ValueError, "remote/ingot-cpu"):
            self.session("tpu")
        with self.session("ingot-cpu") as session, \
                profile.remote_profile(session, print_results_to=None) as handle:
            profile.accelerate(lambda x: x + 1)(torch.ones(2, dtype=torch.bfloat16))
        self.assertIn("bfloat16", str(handle.report().runtime_errors))

    def test_machine_comes_free(self):
        first, second = self.session("ingot-cpu"), self.session("ingot-cpu")
        first.connect()
        closer = threading.Timer(0.5, first.close)
        closer.start()
        second.connect()
        second.close()
        closer.join()


@unittest.skipUnless(torch, "torch is not installed")
class Measuring(unittest.TestCase):
    BACKENDS = ("local/ingot-cpu", "local/torch-eager-cpu[threads=1]")

    def setUp(self):
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()).eval()

    def measure(self, function, *calls, **options):
        options.setdefault("backends", self.BACKENDS)
        with profile.remote_profile(print_results_to=None, num_repeats=2,
                                    **options) as handle:
            results = [function(*call) for call in calls]
        return handle.report(), results

    def check_all_well(self, got):
        self.assertEqual((got.runtime_errors, got.differences), ([], []))

    def test_a_module(self):
        wanted = self.model(torch.ones(2, 4))
        model = profile.accelerate(self.model)
        got, results = self.measure(model, *[(torch.ones(2, 4),)] * 4)
        self.check_all_well(got)
        torch.testing.assert_close(results[0], wanted.detach())
        self.assertEqual((got.discarded_runs, got.profiles[0].runs), (1, 3))
        for result in got.profiles[0].segments[1].results.values():
            self.assertEqual((result.times.samples, result.failures), (6, 0))
        self.assertEqual(got.profiles[0].function, "Sequential")

    def test_each_shape_is_a_graph_unless_dynamic(self):
        for dynamic, graphs in ((False, 3), (True, 1)):
            @profile.accelerate(dynamic=dynamic)
            def predict(x):
                return self.model(x).reshape(x.shape[0], 2, -1) * x.shape[0]

            torch._dynamo.reset()
            batches = [(torch.randn(n, 4),) for n in (3, 5, 7)] * 2
            if not dynamic:  # dynamo opens extents after the second shape by itself
                with torch._dynamo.config.patch(assume_static_by_default=True,
                                                automatic_dynamic_shapes=False):
                    got, _ = self.measure(predict, *batches)
            else:
                got, _ = self.measure(predict, *batches)
            self.check_all_well(got)
            self.assertEqual(len(got.profiles), graphs)

    def test_numbers_that_change(self):
        norm = torch.nn.LayerNorm(4)

        @profile.accelerate(dynamic=True)
        def predict(x, count, scale):
            return norm(x) * count + scale

        x = torch.randn(3, 4)
        calls = [(x, n, s) for n, s in ((5, 0.5), (7, 0.5), (9, 1.5), (5, 0.5))]
        got, results = self.measure(predict, *calls, *calls)
        self.check_all_well(got)
        with profile.remote_inference(backend="local/ingot-cpu"):
            for call, wanted in zip(calls, results):
                torch.testing.assert_close(predict(*call), wanted)

    def test_modules_that_share_a_graph_and_weights_that_change(self):
        layers = [torch.nn.Linear(4, 4) for _ in range(2)]
        predict = profile.accelerate(lambda layer, x: layer(x).relu())
        x = torch.randn(2, 4)
        calls = [(layer, x) for layer in layers] * 2
        got, results = self.measure(predict, *calls)
        self.check_all_well(got)
        with profile.remote_inference(backend="local/ingot-cpu"):
            for call, wanted in zip(calls, results):
                torch.testing.assert_close(predict(*call), wanted)
            layers[0].weight.mul_(2)
            torch.testing.assert_close(predict(layers[0], x), layers[0](x).relu())

    def test_the_cause_of_each_failure(self):
        @profile.accelerate
        def predict(x):
            return torch.linalg.eigvalsh(x)

        with self.assertLogs("ingot", "WARNING") as reply:
            got, results = self.measure(predict, *[(torch.eye(3),)] * 3)
        self.assertEqual(len(reply.output), 1)
        (function, backend, graph, text), = got.runtime_errors
        self.assertEqual((function, backend, graph), ("predict", "local/ingot-cpu", 1))
        self.assertIn("eig", text)
        self.assertIn("UnsupportedError", text)
        totals = got.profiles[0].total_per_backend
        self.assertIsNone(totals["local/ingot-cpu"].estimated_total_ms)
        self.assertIsNotNone(totals["local/torch-eager-cpu[threads=1]"].estimated_total_ms)
        self.assertEqual(got.profiles[0].segments[1].results["local/ingot-cpu"].failures, 4)
        torch.testing.assert_close(results[0], torch.linalg.eigvalsh(torch.eye(3)))

    def test_what_a_graph_changes_changes_once(self):
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(3))

            def forward(self, x):
                self.calls += 1
                return x * self.calls

        counter = Counter()
        got, results = self.measure(profile.accelerate(counter), *[(torch.ones(3),)] * 4)
        self.assertEqual(got.differences, [])
        self.assertEqual([float(r[0]) for r in results], [1, 2, 3, 4])
        self.assertEqual(float(counter.calls[0]), 4)

    def test_wrong_numbers_are_said(self):
        from ingot.profile import engines

        class Wrong(engines.TorchEager):
            def tensors(self, results):
                return [t + 0.5 for t in super().tensors(results)]

        predict = profile.accelerate(self.model)
        engines.ENGINES["wrong-cpu"] = Wrong
        try:
            got, _ = self.measure(predict, *[(torch.ones(2, 4),)] * 2,
                                  backends="local/wrong-cpu")
        finally:
            del engines.ENGINES["wrong-cpu"]
        (name, backend, graph, off), = got.differences
        self.assertEqual((backend, graph), ("local/wrong-cpu", 1))
        self.assertAlmostEqual(off, 0.5, places=3)
        out = io.StringIO()
        got.print(file=out)
        self.assertIn("differs from eager by", out.getvalue())

    def test_inference_uses_the_backends_results(self):
        predict = profile.accelerate(self.model)
        x = torch.randn(2, 4)
        wanted = torch.relu(self.model[0](x)).detach()
        for backend in self.BACKENDS:
            with profile.remote_inference(backend=backend):
                for _ in range(3):
                    torch.testing.assert_close(predict(x), wanted)
        failing = profile.accelerate(lambda v: torch.linalg.eigvalsh(v))
        with self.assertRaisesRegex(profile.InferenceError, "eig"):
            with profile.remote_inference(backend="local/ingot-cpu"):
                failing(torch.eye(2))
        with self.assertRaisesRegex(ValueError, "one backend"):
            with profile.remote_inference(backend=self.BACKENDS):
                pass

    def test_outside_it_is_compiled_here(self):
        predict = profile.accelerate(self.model, local_backend="eager")
        with torch.no_grad():
            self.assertEqual(predict(torch.ones(2, 4)).shape, (2, 8))

    def test_misuse(self):
        for names, words in (("ingot-cpu", "hardware/software"), ("local/gpu", "local/ingot-cpu"),
                             ("local/ingot-cpu[fp16]", "no option 'fp16'"),
                             ("local/ingot-cpu[threads=x]", "'x'"), ([], "one backend")):
            with self.assertRaisesRegex(ValueError, re.escape(words)):
                profile.RemoteInferenceSession(names)
        session = profile.RemoteInferenceSession("r6i.large/onnxrt-cpu")
        with self.assertRaisesRegex(ValueError, "no machine 'r6i.large'"):
            with profile.remote_profile(session):
                pass
        with self.assertRaisesRegex(ValueError, "server_addr '127.0.0.1:1'"):
            profile.RemoteInferenceSession(server_addr="127.0.0.1:1")
        with self.assertRaisesRegex(ValueError, "not both"):
            with profile.remote_profile(session, backends="local/ingot-cpu"):
                pass
        with profile.remote_profile(print_results_to=None):
            with self.assertRaisesRegex(RuntimeError, "nest"):
                with profile.remote_profile():
                    pass
        with self.assertRaisesRegex(TypeError, "already"):
            profile.accelerate(profile.accelerate(lambda x: x))
        with self.assertRaisesRegex(ValueError, "dollars"):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write('{"local": "much"}')
                file.flush()
                report.read_prices(file.name)


if __name__ == "__main__":
    unittest.main()
