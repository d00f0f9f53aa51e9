"""torch.compile(backend="ingot") on torchvision's and transformers' models, and on the
recommendation models of tests/models/gen: whole, within 1e-3 of eager, one graph for
several batches.  Weights are random, transformers' configurations tiny.

The largest ones run where INGOT_TEST_MODELS is "all".

SPDX-License-Identifier: Apache-2.0
"""
import copy
import fnmatch
import os
import pathlib
import sys
import time
import unittest
import warnings

try:
    import torch
except ImportError:
    torch = None
else:
    import ingot.dynamo
try:
    import torchvision
except ImportError:
    torchvision = None
try:
    import transformers
except ImportError:
    transformers = None

GENERATORS = pathlib.Path(__file__).parents[1] / "models" / "gen"
ALL = os.environ.get("INGOT_TEST_MODELS", "")

# One of each family: the side of the images that it takes, and whether every run has it.
VISION = {
    "alexnet": (64, False), "convnext_tiny": (32, False), "densenet121": (32, False),
    "efficientnet_b0": (32, False), "efficientnet_v2_s": (32, False),
    "googlenet": (64, False), "inception_v3": (96, False), "maxvit_t": (224, False),
    "mnasnet0_5": (32, True), "mobilenet_v2": (32, True), "mobilenet_v3_small": (32, True),
    "regnet_x_400mf": (32, False), "regnet_y_400mf": (32, False), "resnet18": (32, True),
    "resnext50_32x4d": (32, False), "shufflenet_v2_x0_5": (32, True),
    "squeezenet1_1": (64, True), "swin_t": (64, False), "swin_v2_t": (64, False),
    "vgg11": (32, False), "vit_b_16": (224, False), "wide_resnet50_2": (32, False),
}
# torch's own tracing of these with open sides does not end within minutes.
FIXED_SIDES = ("maxvit_t", "swin_t", "swin_v2_t")
BATCHES = (2, 3, 5)


def text(batch, length=9, vocabulary=99):
    return torch.randint(5, vocabulary, (batch, length))


def tiny(config, **more):
    return config(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=37, **more)


def bert():
    t = transformers
    return (t.BertModel(tiny(t.BertConfig)),
            lambda b: {"input_ids": text(b), "attention_mask": torch.ones(b, 9).long()})


def distilbert():
    t = transformers
    config = t.DistilBertConfig(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=37)
    return (t.DistilBertModel(config),
            lambda b: {"input_ids": text(b), "attention_mask": torch.ones(b, 9).long()})


def gpt2():
    t = transformers
    config = t.GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    return (t.GPT2LMHeadModel(config), lambda b: {"input_ids": text(b), "use_cache": False})


def t5():
    t = transformers
    config = t.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4)
    return (t.T5Model(config), lambda b: {"input_ids": text(b), "use_cache": False,
                                          "decoder_input_ids": text(b, 7)})


def vit():
    t = transformers
    config = t.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=37, image_size=30, patch_size=6)
    return t.ViTModel(config), lambda b: {"pixel_values": torch.randn(b, 3, 30, 30)}


def llama():
    t = transformers
    config = tiny(t.LlamaConfig, num_key_value_heads=2, max_position_embeddings=64)
    return (t.LlamaForCausalLM(config), lambda b: {"input_ids": text(b), "use_cache": False})


def whisper():
    t = transformers
    config = t.WhisperConfig(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2,
                             encoder_attention_heads=4, decoder_attention_heads=4,
                             encoder_ffn_dim=37, decoder_ffn_dim=37, num_mel_bins=16,
                             max_source_positions=30, max_target_positions=20,
                             pad_token_id=0, bos_token_id=1, eos_token_id=2,
                             decoder_start_token_id=1)
    model = t.WhisperModel(config).get_encoder()
    return model, lambda b: {"input_features": torch.randn(b, 16, 60)}


LANGUAGE = {f.__name__: f for f in (bert, distilbert, gpt2, t5, vit, llama, whisper)}


def tensors_of(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [t for one in result for t in tensors_of(one)]
    return []


def in_double(module, args, named):
    """What the module gives where nothing is rounded to f32."""
    def widen(value):
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.double() if is_float else value

    wide = copy.deepcopy(module).double()
    return tensors_of(wide(*map(widen, args), **{k: widen(v) for k, v in named.items()}))


class Compiled(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch.manual_seed(0)
        ingot.dynamo._reported.clear()

    def check_values(self, got, want, exact):
        """Within 1e-3 of eager; where random weights let values grow until eager's own
        rounding is more than that, within four times its distance from exact values:
        sums of thousands of products in another order."""
        for index, (g, w) in enumerate(zip(got, want)):
            try:
                torch.testing.assert_close(g, w, rtol=1e-3, atol=1e-3)
            except AssertionError:
                e = exact()[index]
                off, own = (g - e).abs().max(), (w - e).abs().max()
                self.assertLessEqual(off.item(), 4 * own.item())

    def check(self, name, module, draws):
        """`draws`: positional and named arguments, one pair for each call."""
        module.eval()
        graphs, seconds = [], []

        def backend(*args):
            graphs.append(1)
            return ingot.dynamo.backend(*args)

        compiled = torch.compile(module, backend=backend, dynamic=True, fullgraph=True)
        with torch.no_grad():
            for args, named in draws:
                want = tensors_of(module(*args, **named))
                began, before = time.monotonic(), len(graphs)
                got = tensors_of(compiled(*args, **named))
                seconds.append(time.monotonic() - began)
                self.assertEqual(ingot.dynamo._reported, set())
                self.assertEqual(len(got), len(want))
                self.check_values(got, want, lambda: in_double(module, args, named))
                self.assertTrue(not before or before == len(graphs), "another graph")
        print(f"{name}: first call {seconds[0]:.1f} s", file=sys.stderr)


@unittest.skipUnless(torch and torchvision, "torchvision is not installed")
class Vision(Compiled):
    pass


@unittest.skipUnless(torch and transformers, "transformers is not installed")
class Language(Compiled):
    pass


@unittest.skipUnless(torch, "torch is not installed")
class Recommendation(Compiled):
    pass


def vision_test(name, side):
    def test(self):
        more = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
        module = getattr(torchvision.models, name)(weights=None, **more)
        images = [torch.randn(b, 3, side, side) for b in BATCHES]
        if name in FIXED_SIDES:
            for image in images:
                torch._dynamo.mark_static(image, (1, 2, 3))
        self.check(name, module, [((image,), {}) for image in images])
    return test


def language_test(name):
    def test(self):
        module, draw = LANGUAGE[name]()
        self.check(name, module, [((), draw(b)) for b in BATCHES])
    return test


def recommendation_test(name):
    def test(self):
        sys.path.insert(0, str(GENERATORS))
        self.addCleanup(sys.path.remove, str(GENERATORS))
        from recommend_models import MODELS
        for one in fnmatch.filter(MODELS, name):
            with self.subTest(one):
                self.setUp()
                torch._dynamo.config.allow_rnn = True  # GRU and LSTM, which torch leaves out
                module, draw = MODELS[one]()
                self.check(one, module, [(draw(b), {}) for b in BATCHES])
    return test


for _name, (_side, _always) in VISION.items():
    if _always or ALL == "all":
        setattr(Vision, f"test_{_name}", vision_test(_name, _side))
for _name in LANGUAGE:
    setattr(Language, f"test_{_name}", language_test(_name))
setattr(Recommendation, "test_all", recommendation_test("*"))


if __name__ == "__main__":
    unittest.main()
