#!/usr/bin/env python3
"""Models as torch's two exporters write them, against ONNX Runtime: answers and time.

SPDX-License-Identifier: Apache-2.0

    $python bench/exports.py                          # answers, at up to three sizes each
    $python bench/exports.py --model unet,bert --exporter script,dynamo
    $python bench/exports.py --time                   # CPU time too, one thread
    $python bench/exports.py --optimised              # as ONNX Runtime saves them
    $python bench/exports.py --recommend --rows 1,64 --time  # tests/models/gen's instead;
                                                      # --wide: of sizes that are served

Weights are drawn.  Open extents grow between sizes; one artifact serves them all.
"""

import argparse
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

from ingot_runtime import BUILD, ROOT, Binding, Program
from models import cache_folder

ROUNDS, SECONDS = 7, 0.03
TOLERANCE = {"rtol": 1e-3, "atol": 2e-4}
TORCHVISION = (
    "alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet "
    "maxvit_t mnasnet1_0 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small "
    "regnet_x_400mf regnet_y_400mf resnet18 resnet50 resnext50_32x4d "
    "shufflenet_v2_x1_0 squeezenet1_1 vgg11 vit_b_16"
).split()
SEGMENTATION = "deeplabv3_mobilenet_v3_large fcn_resnet50 lraspp_mobilenet_v3_large".split()
SMALL = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 4, "intermediate_size": 64}
ENCODERS = {
    "Bert": {}, "Roberta": {"max_position_embeddings": 64},
    "Electra": {"embedding_size": 16}, "Albert": {"embedding_size": 16},
    "MPNet": {"max_position_embeddings": 64}, "RoFormer": {"embedding_size": 32},
    "DebertaV2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "ModernBert": {"pad_token_id": 0}, "Nystromformer": {}, "MegatronBert": {},
    "LayoutLM": {}, "Longformer": {"attention_window": 4, "max_position_embeddings": 64},
}
DECODERS = {
    "Llama": {"num_key_value_heads": 2}, "Mistral": {"num_key_value_heads": 2},
    "Qwen2": {"num_key_value_heads": 2}, "Gemma": {"num_key_value_heads": 1, "head_dim": 8},
    "Gemma2": {"num_key_value_heads": 2, "head_dim": 8}, "Phi": {},
    "Phi3": {"pad_token_id": 0}, "GPTNeoX": {}, "Olmo": {}, "Falcon": {},
}

WIDE = {"FIELDS": 26, "ROWS": 10000, "DIM": 64, "DENSE": 13, "STEPS": 50, "ITEMS": 20000}


def u_shaped(torch, down, middle, up, join):
    """Blocks that halve an image and blocks that double it again, each beside its twin."""
    nn = torch.nn

    class UShaped(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.up, self.join = map(nn.ModuleList, (down, up, join))
            self.middle = middle
            self.out = nn.LazyConv2d(1, 1)

        def forward(self, x):
            kept = []
            for down in self.down:
                x = down(x)
                kept.append(x)
                x = nn.functional.max_pool2d(x, 2)
            x = self.middle(x)
            for up, join, old in zip(self.up, self.join, reversed(kept)):
                x = join(torch.cat([old, up(x)], 1))
            return self.out(x)

    module = UShaped()
    module(torch.zeros(1, 3, 64, 64))  # which tells the last layer its channels
    return module


def unet(torch, width=32):
    nn, w = torch.nn, width

    def block(i, o):
        parts = []
        for start in (i, o):
            parts += [nn.Conv2d(start, o, 3, padding=1, bias=False),
                      nn.BatchNorm2d(o), nn.ReLU()]
        return nn.Sequential(*parts)

    return u_shaped(torch, [block(3, w), block(w, 2 * w), block(2 * w, 4 * w)],
                    block(4 * w, 8 * w),
                    [nn.ConvTranspose2d(2 * i, i, 2, 2) for i in (4 * w, 2 * w, w)],
                    [block(2 * i, i) for i in (4 * w, 2 * w, w)])


def norm_unet(torch, width=32):
    """A U-Net of diffusion's parts: norms of instances and groups, SiLU, resizes."""
    nn, w = torch.nn, width

    def block(i, o, norm):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), norm(o), nn.SiLU(),
                             nn.Conv2d(o, o, 3, padding=1), norm(o), nn.SiLU())

    def instance(n):
        return nn.InstanceNorm2d(n, affine=True)

    def group(n):
        return nn.GroupNorm(8, n)

    up = [nn.ConvTranspose2d(4 * w, 2 * w, 2, 2),
          nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"),
                        nn.Conv2d(2 * w, w, 1))]
    return u_shaped(torch, [block(3, w, instance), block(w, 2 * w, group)],
                    block(2 * w, 4 * w, group), up,
                    [block(4 * w, 2 * w, group), block(2 * w, w, instance)])


def upsampler(torch):
    """Transposed convolutions and resizes, as generators and decoders have them."""
    nn = torch.nn
    return nn.Sequential(
        nn.ConvTranspose2d(64, 32, 3, 2, padding=1, output_padding=1), nn.ReLU(),
        nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, 2, padding=1), nn.ReLU(),
        nn.Upsample(scale_factor=0.5, mode="nearest"), nn.Conv2d(16, 3, 1))


def tagger(torch, kind):
    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(500, 64)
            self.layers = kind(64, 96, 2, bidirectional=True, batch_first=True)
            self.out = torch.nn.Linear(192, 9)

        def forward(self, ids):
            return self.out(self.layers(self.words(ids))[0])

    return Tagger()


def first_result(torch, module, names=None, key=0):
    """A module of one result, from one whose inputs have names."""

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *inputs):
            given = dict(zip(names, inputs)) if names else {}
            return self.module(*(() if names else inputs), **given)[key]

    return First()


def transformer(torch, family, more, head):
    import transformers

    config = getattr(transformers, family + "Config")(**{**SMALL, **more})
    config.use_cache = False
    module = getattr(transformers, family + head)(config)
    return first_result(torch, module, ["input_ids", "attention_mask"])


def draw_statistics(torch, module):
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.1, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return module.eval()


def list_models():
    """name -> (module of torch, inputs, open axes of each input)"""
    import torch
    import torchvision

    vision = torchvision.models
    words = torch.randint(1, 100, (2, 9))
    texts = ((words, torch.ones_like(words)), [(0, 1), (0, 1)])
    models = {
        "unet": (lambda: unet(torch), (torch.randn(1, 3, 128, 128),), [(0,)]),
        "norm_unet": (lambda: norm_unet(torch), (torch.randn(1, 3, 128, 128),), [(0,)]),
        "upsampler": (lambda: upsampler(torch), (torch.randn(1, 64, 64, 64),), [(0,)]),
        "lstm": (lambda: tagger(torch, torch.nn.LSTM), (words,), [(0, 1)]),
        "gru": (lambda: tagger(torch, torch.nn.GRU), (words,), [(0, 1)]),
    }
    for name in TORCHVISION:
        more = {"init_weights": False} if name == "googlenet" else {}
        models[name] = (lambda name=name, more=more: getattr(vision, name)(
            weights=None, **more), (torch.randn(1, 3, 224, 224),), [(0,)])
    for name in SEGMENTATION:
        models[name] = (lambda name=name: first_result(torch, getattr(
            vision.segmentation, name)(weights=None, weights_backbone=None), key="out"),
            (torch.randn(1, 3, 128, 128),), [(0, 2, 3)])
    for families, head in ((ENCODERS, "Model"), (DECODERS, "ForCausalLM")):
        for family, more in families.items():
            models[family.lower()] = (lambda family=family, more=more, head=head:
                                      transformer(torch, family, more, head), *texts)
    return models


def list_recommenders(rows, is_wide):
    """The same of tests/models/gen's models of the literature, at numbers of rows."""
    import torch

    sys.path.insert(0, str(ROOT / "tests" / "models" / "gen"))
    import recommend_models

    models, size = {}, ""
    if is_wide:
        size = ".wide"
        for name, value in WIDE.items():
            setattr(recommend_models, name, value)
    for name, make in recommend_models.MODELS.items():
        torch.manual_seed(0)
        module, draw = make()
        for count in rows:
            inputs = draw(count)
            models[f"{name}{size}.{count}"] = (lambda module=module: module, inputs,
                                         [(0,) for _ in inputs])
    return models


def export(name, exporter, model):
    """The path of the file, written unless it is there; None: torch cannot."""
    import torch

    make, inputs, axes = model
    path = cache_folder() / "exports" / f"{name}.{exporter}.onnx"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.manual_seed(0)
    names = [f"in{i}" for i in range(len(inputs))]
    try:
        module = draw_statistics(torch, make())
        if exporter == "script":
            is_open = {n: {a: f"{n}_{a}" for a in own} for n, own in zip(names, axes)}
            torch.onnx.export(module, inputs, str(partial), dynamo=False,
                              input_names=names, dynamic_axes=is_open, opset_version=17)
        else:
            is_list = inspect.signature(module.forward).parameters.get("inputs")
            shapes = tuple({a: torch.export.Dim.DYNAMIC for a in own} for own in axes)
            torch.onnx.export(module, inputs, str(partial), dynamo=True, verbose=False,
                              input_names=names, external_data=False,
                              dynamic_shapes=(shapes,) if is_list else shapes)
    except Exception as error:  # an exporter's failure is no finding about us
        print(f"{name} {exporter}: not exported: {str(error).splitlines()[0][:80]}")
        return None
    np.savez(path.with_suffix(".npz"), **{n: x.numpy() for n, x in zip(names, inputs)})
    partial.rename(path)
    return path


def open_session(path, saved=None):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if saved:
        level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(saved)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def grow(arrays, axes, step):
    """Open axes `step` longer (images: 32 * step), the content repeated."""
    grown = []
    for array, own in zip(arrays, axes):
        more = [(step if n < 64 else 32 * step) if a in own else 0
                for a, n in enumerate(array.shape)]
        grown.append(np.pad(array, [(0, m) for m in more], mode="wrap"))
    return grown


def check_answers(artifact, session, arrays, axes):
    """The sizes that were compared; raises where answers differ."""
    program, names = Program(artifact, "mapped", BUILD), [i.name for i in session.get_inputs()]
    run, sizes = program.session(1), 0
    for step in (0, 1, 3):
        inputs = grow(arrays, axes, step)
        try:
            want = session.run(None, dict(zip(names, inputs)))
        except Exception:  # an exporter that fixed an extent
            continue
        outputs = [np.zeros_like(w) for w in want]
        run.run(Binding(inputs, outputs))
        for got, expected in zip(outputs, want):
            np.testing.assert_allclose(got, expected, **TOLERANCE)
        sizes += 1
    run.close()
    program.close()
    return sizes


def time_run(run, argument):
    begin, count = time.process_time(), 0
    while count == 0 or time.process_time() - begin < SECONDS:
        run(argument)
        count += 1
    return (time.process_time() - begin) / count


def time_both(artifact, session, arrays):
    """Rounds of (ours, ONNX Runtime's) CPU seconds, in turns."""
    names = [i.name for i in session.get_inputs()]
    want = session.run(None, dict(zip(names, arrays)))
    outputs = [np.zeros_like(w) for w in want]
    program = Program(artifact, "mapped", BUILD)
    run, binding, peer = program.session(1), Binding(arrays, outputs), session.io_binding()
    for ports, held, bind in ((session.get_inputs(), arrays, peer.bind_input),
                              (session.get_outputs(), want, peer.bind_output)):
        for port, a in zip(ports, held):
            bind(port.name, "cpu", 0, a.dtype, a.shape, a.ctypes.data)
    rounds = [(time_run(run.run, binding), time_run(session.run_with_iobinding, peer))
              for _ in range(ROUNDS + 1)][1:]
    run.close()
    program.close()
    return rounds


def compare(label, path, axes, options, folder):
    saved = pathlib.Path(folder) / "saved.onnx" if options.optimised else None
    session = open_session(path, saved)
    artifact = pathlib.Path(folder) / "model.ingot"
    done = subprocess.run([BUILD / "ingot", "compile", saved or path, "-o", artifact],
                          capture_output=True, text=True)
    if done.returncode:
        print(f"{label}: {done.stderr.strip()}")
        return False
    with np.load(path.with_suffix(".npz")) as given:
        names = [i.name for i in session.get_inputs()]
        arrays = [given[n] for n in names]
        axes = [axes[list(given).index(n)] for n in names]
    try:
        sizes = check_answers(artifact, session, arrays, axes)
    except AssertionError as error:
        print(f"{label}: {' '.join(str(error).split())[:200]}")
        return False
    words = f"{label}: the same at {sizes} sizes"
    if options.time:
        rounds = time_both(artifact, session, arrays)
        ratios = sorted(peer / own for own, peer in rounds)
        own, peer = (1e3 * min(r[i] for r in rounds) for i in (0, 1))
        words += (f"; {own:.2f} ms, ONNX Runtime {peer:.2f} ms, ratio "
                  f"{ratios[len(ratios) // 2]:.2f} [{ratios[1]:.2f}, {ratios[-2]:.2f}]")
    print(words, flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="names, by commas")
    parser.add_argument("--exporter", default="script,dynamo")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--optimised", action="store_true")
    parser.add_argument("--recommend", action="store_true")
    parser.add_argument("--wide", action="store_true", help="recommenders of served sizes")
    parser.add_argument("--rows", default="64", help="of recommenders, by commas")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    rows = [int(n) for n in options.rows.split(",")]
    models, bad = list_recommenders(rows, options.wide) if options.recommend else list_models(), 0
    wanted = options.model.split(",") if options.model else []
    for name in [m for m in models if not wanted or m in wanted or m.split(".")[0] in wanted]:
        for exporter in options.exporter.split(","):
            path = export(name, exporter, models[name])
            with tempfile.TemporaryDirectory() as folder:
                bad += bool(path) and not compare(f"{name} {exporter}", path,
                                                  models[name][2], options, folder)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
