#!/usr/bin/env python3
"""Writes stored cases of com.microsoft's operators for language models and signals, with
ONNX Runtime's answers; microsoft.py has those that optimisers and quantisers write.

SPDX-License-Identifier: Apache-2.0

    contrib.py [ARCHIVE]        (tests/differential/cases/contrib.tar.xz)
"""

import pathlib
import sys

import numpy as np
import onnx.parser
import onnxruntime as ort

sys.dont_write_bytecode = True

from onnx_models import run_whole
from stored import Cases

HERE = pathlib.Path(__file__).resolve().parent
CASES = Cases()
RANDOM = np.random.default_rng(31)
WORDS = {np.dtype(np.float32): "float", np.dtype(np.float16): "float16",
         np.dtype(np.uint8): "uint8", np.dtype(np.int8): "int8",
         np.dtype(np.int32): "int32", np.dtype(np.int64): "int64",
         np.dtype(np.uint32): "uint32", np.dtype(np.int16): "int16",
         np.dtype(np.uint16): "uint16", np.dtype(np.bool_): "bool",
         np.dtype(np.float64): "double"}


def case(name, signature, body, *sets, rtol=1e-3, atol=1e-4, by_hand=None, judge=run_whole):
    body = body.replace("ms.", "com.microsoft.")
    CASES.add(name, 17, signature, body, *sets, rtol=rtol, atol=atol, by_hand=by_hand,
              domains=', "com.microsoft": 1', judge=judge)


def node(name, call, inputs, outputs, attributes="", more=(), stated=(), shown=None, **options):
    """A case of one node, as "y = ms.Name<>()".  `inputs` by name, None where one is absent;
    `outputs`: names with dtype and rank, as {"y": ("float", 2)}; `more`: further sets;
    `stated`: inputs whose extents the model says; `shown`: the outputs that are compared."""
    def declare(label, word, rank):
        extents = given[label].shape if label in stated else \
            [f"{label}{i}" for i in range(rank)]
        return f"{word}[{', '.join(map(str, extents))}] {label}" if rank else f"{word} {label}"

    given = {key: np.asarray(a) for key, a in inputs.items() if a is not None}
    signature = ", ".join(declare(key, WORDS[a.dtype], a.ndim) for key, a in given.items())
    signature += " -> " + ", ".join(declare(key, *of) for key, of in outputs.items()
                                    if key in (shown or outputs))
    operands = ", ".join(key if a is not None else "" for key, a in inputs.items())
    call = call.replace("<>", f"<{attributes}>" if attributes else "")
    case(name, signature, call.replace("()", f"({operands})"), list(given.values()), *more,
         **options)


def draw(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def byte(*shape):
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


# ---- weights of 4 bits by tables ----

FP4 = np.array([0, 5.208333333e-03, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25],
               np.float32)


def bnb4(name, rows, n, k, block, kind, by_hand=None, **attributes):
    a, b = draw(*rows, n if "transB" in attributes else k), byte((n * k + 1) // 2)
    highest = abs(draw((n * k + block - 1) // block))
    if by_hand:
        numbers = np.stack([b >> 4, b & 15], 1).reshape(-1)[:n * k]
        w = np.concatenate([FP4, -FP4])[numbers] * np.repeat(highest, block)[:n * k]
        by_hand = [a @ w.reshape(n, k)]
    node(name, "y = ms.MatMulBnb4<>()", {"a": a, "b": b, "m": highest}, {"y": ("float", a.ndim)},
         ", ".join(f"{key} = {value}" for key, value in dict(
             K=k, N=n, block_size=block, quant_type=kind, **attributes).items()),
         by_hand=by_hand)


bnb4("table_fp4", (2, 3), 5, 32, 16, 0)
bnb4("table_nf4", (2, 3), 5, 32, 16, 1)
bnb4("table_nf4_of_blocks_across_rows", (4,), 3, 24, 64, 1)
bnb4("table_fp4_of_odd_size", (2,), 3, 17, 16, 0)
bnb4("table_nf4_of_no_rows", (0,), 3, 32, 32, 1)
# ONNX Runtime's kernel for CPUs reads past its weights here; numpy answers.
bnb4("table_fp4_not_transposed", (2, 3), 6, 20, 16, 0, by_hand=True, transB=0)

# ---- mixtures of experts ----


def swiglu(x, fusion, alpha, beta, limit, third=None):
    gate, factor = (x, third) if fusion == 0 else \
        (x[..., ::2], x[..., 1::2]) if fusion == 1 else np.split(x, 2, -1)
    gate, factor = np.minimum(gate, limit), np.clip(factor, -limit, limit)
    return gate / (1 + np.exp(-alpha * gate)) * (factor + beta)


def mix(x, router, k, chosen_alone, layers):
    """Each token through its k best experts; layers(expert, token)."""
    y = []
    for token, values in zip(x.astype(float), router.astype(float)):
        best = np.argsort(-values, kind="stable")[:k]
        shares = np.exp(values - values.max())
        shares = shares[best] / (shares[best] if chosen_alone else shares).sum()
        y.append(sum(share * layers(e, token) for share, e in zip(shares, best)))
    return [np.array(y, np.float32)]


def swiglu_experts(name, tokens, fusion, limit=None):
    """ONNX Runtime has fusion 1 alone on CPUs."""
    h, inner, experts = 6, 5, 4
    wide = inner if fusion == 0 else 2 * inner
    inputs = {"x": draw(tokens, h), "r": draw(tokens, experts), "a": draw(experts, wide, h),
              "p": draw(experts, wide), "b": draw(experts, h, inner), "q": draw(experts, h)}
    if fusion == 0:
        inputs |= {"c": draw(experts, inner, h), "s": draw(experts, inner)}
    x, r, a, p, b, q = list(inputs.values())[:6]

    def layers(e, token):
        third = inputs["c"][e] @ token + inputs["s"][e] if fusion == 0 else None
        return b[e] @ swiglu(a[e] @ token + p[e], fusion, 1.702, 1, limit or np.inf, third) + q[e]

    clamp = f", swiglu_limit = {limit}" if limit else ""
    node(name, "y = ms.MoE<>()", inputs, {"y": ("float", 2)},
         f"""k = 2, activation_type = "swiglu", activation_alpha = 1.702,
         activation_beta = 1.0, swiglu_fusion = {fusion}{clamp}""",
         by_hand=None if fusion == 1 else mix(x, r, 2, False, layers))


swiglu_experts("experts_swiglu", 5, 1)
swiglu_experts("experts_swiglu_clamped", 5, 1, 0.5)
swiglu_experts("experts_swiglu_halves", 3, 2, 0.75)
swiglu_experts("experts_swiglu_apart", 3, 0)


def quantised(name, tokens, bits, block, kind="silu", k=2, has_zeros=False, has_mixing=False,
              shared=0, by_hand=None, own=(), batch=(), rows=(32, 16, 3), **extra):
    """`own`: bits of each layer, where they differ."""
    h, inner, experts = rows
    own = own or (bits, bits, bits)
    wide = inner * (2 if kind == "swiglu" and extra.get("swiglu_fusion", 0) else 1)
    has_third = kind == "swiglu" and wide == inner
    inputs = {"x": draw(*batch, tokens, h), "r": draw(int(np.prod(batch)) * tokens, experts)}
    zeros = {}
    for key, out, into, b in (("a", wide, h, own[0]), ("b", h, inner, own[1]),
                              ("c", inner, h, own[2])):
        is_there = key != "c" or has_third
        blocks = into // block if block else 0
        shape = (experts, out, blocks) if block else (experts, out)
        inputs[key] = byte(experts, out, into * b // 8) if is_there else None
        inputs[key + "s"] = abs(draw(*shape)) / 2 ** b if is_there else None
        inputs[key + "b"] = draw(experts, out) if is_there else None
        packed = (experts, out, -(-blocks * b // 8)) if block else (experts, -(-out * b // 8))
        zeros[key + "z"] = byte(*packed) if has_zeros and is_there else None
    inputs |= zeros
    inputs["m"] = abs(draw(len(inputs["r"]), experts)) if has_mixing else None
    keys = list(inputs)
    while inputs[keys[-1]] is None:
        del inputs[keys.pop()]
    attributes = dict(k=k, activation_type=f'"{kind}"', expert_weight_bits=bits,
                      normalize_routing_weights=shared, **extra)
    if block:
        attributes["block_size"] = block
    node(name, "y = ms.QMoE<>()", inputs, {"y": ("float", 2 + len(batch))},
         ", ".join(f"{key} = {value}" for key, value in attributes.items()),
         by_hand=by_hand and by_hand(inputs))


def by_numpy(widths, activate):
    """An answer in blocks of 16, without zero points, of layers of such widths."""
    def real(inputs, key, bits):
        w = np.stack([inputs[key] >> i & (1 << bits) - 1 for i in range(0, 8, bits)], -1)
        w = w.reshape(*inputs[key].shape[:2], -1) - 2.0 ** (bits - 1)
        return w * np.repeat(inputs[key + "s"], 16, 2)

    def answer(inputs):
        a, b = real(inputs, "a", widths[0]), real(inputs, "b", widths[1])
        return mix(inputs["x"], inputs["r"], 2, True, lambda e, token: b[e] @ activate(
            a[e] @ token + inputs["ab"][e]) + inputs["bb"][e])

    return answer


GATED = dict(activation_alpha=1.702, activation_beta=1.0, swiglu_fusion=1, swiglu_limit=7.0)
for bits in (2, 4, 8):
    quantised(f"quantised_experts_{bits}", 5, bits, 0)
    quantised(f"quantised_experts_{bits}_blocks", 5, bits, 16, has_zeros=True)
    quantised(f"quantised_experts_{bits}_swiglu", 5, bits, 16, "swiglu", k=3, shared=1, **GATED)
quantised("quantised_experts_of_rows_zeros", 4, 4, 0, "relu", has_zeros=True)
quantised("quantised_experts_of_odd_zeros", 4, 4, 0, "gelu", k=1, has_zeros=True, rows=(32, 14, 3))
quantised("quantised_experts_of_three_blocks", 3, 4, 16, "identity", has_zeros=True,
          rows=(48, 16, 2))
quantised("quantised_experts_mixed", 5, 4, 16, has_mixing=True)
quantised("quantised_experts_mixed_shared", 5, 4, 16, has_mixing=True, shared=1)
quantised("quantised_experts_of_one_token", 1, 4, 16, "swiglu", k=4, rows=(32, 16, 6), **GATED)
quantised("quantised_experts_of_batches", 3, 8, 0, batch=(2,))
quantised("quantised_experts_of_two_widths", 3, 4, 16, "relu", own=(4, 8, 4),
          by_hand=by_numpy((4, 8), lambda x: np.maximum(x, 0)), fc2_expert_weight_bits=8)
quantised("quantised_experts_halves", 3, 4, 16, "swiglu",
          by_hand=by_numpy((4, 4), lambda x: swiglu(x, 2, 1.5, 0.5, np.inf)),
          activation_alpha=1.5, activation_beta=0.5, swiglu_fusion=2)

# ---- inputs that may be absent before ones that may not ----


def s(value, dtype=np.float32):
    return np.array(value, dtype)


node("experts_without_biases", "y = ms.MoE<>()",
     {"x": draw(3, 6), "r": draw(3, 4), "a": draw(4, 5, 6), "p": None, "b": draw(4, 6, 5)},
     {"y": ("float", 2)}, 'k = 2, activation_type = "gelu"')
inputs = {"x": draw(3, 32), "r": draw(3, 4), "a": byte(4, 16, 16), "as": abs(draw(4, 16)),
          "p": None, "b": byte(4, 32, 8), "bs": abs(draw(4, 32))}
node("quantised_experts_without_biases", "y = ms.QMoE<>()", inputs, {"y": ("float", 2)}, "k = 1")
node("fixed_embed_norm_without_segments", "y, c = ms.EmbedLayerNormalization()",
     {"w": np.array([[3, 0, 8], [1, 1, 2]], np.int32), "g": None, "a": draw(9, 8),
      "b": draw(5, 8), "d": None, "gamma": draw(8), "beta": draw(8)},
     {"y": ("float", 3), "c": ("int32", 1)}, stated=("a", "b", "gamma", "beta"))
# ONNX Runtime's own types need the zero points here; numpy answers.
x, y = byte(3, 5), byte(5)
for text, both, scale in (("y = ms.QLinearAdd()", x * 0.1 + y * 0.07, 0.2),
                          ("y = ms.QLinearMul()", (x * 0.1) * (y * 0.07), 2)):
    node(f"{text[7:-2]}_without_zeros".lower(), text,
         {"a": x, "sa": s(0.1), "za": None, "b": y, "sb": s(0.07), "zb": None, "sy": s(scale)},
         {"y": ("uint8", 2)}, atol=1,
         by_hand=[np.clip(np.rint(both / scale), 0, 255).astype(np.uint8)])

# ---- group query attention ----


def group_query(name, rows, past, lengths, total, heads=4, keys=2, size=16, is_packed=False,
                has_past=True, extra=(), shown=None, **attributes):
    """`past`: rows of the cache, of which what is behind a batch's own is not shown."""
    batch = len(lengths)
    inputs = {"q": draw(batch, rows, (heads + 2 * keys if is_packed else heads) * size)}
    for key in ("k", "v"):
        inputs[key] = None if is_packed else draw(batch, rows, keys * size)
    for key in ("pk", "pv"):
        inputs[key] = draw(batch, keys, past, size) if has_past else None
    inputs |= {"n": s(lengths, np.int32), "t": s([total], np.int32)}
    inputs |= {"cos": draw(16, size // 2), "sin": draw(16, size // 2)} \
        if attributes.get("do_rotary") else {"cos": None, "sin": None}
    inputs |= {"at": None, "bias": None, "sink": None} | dict(extra)
    keys_ = list(inputs)
    while inputs[keys_[-1]] is None:
        del inputs[keys_.pop()]
    outputs = {"y": ("float", 3), "nk": ("float", 4), "nv": ("float", 4)}
    node(name, "y, nk, nv = ms.GroupQueryAttention<>()", inputs, outputs,
         ", ".join(f"{key} = {value}" for key, value in dict(
             num_heads=heads, kv_num_heads=keys, **attributes).items()), shown=shown)


group_query("fixed_group_packed_prompt", 4, 0, [3, 3], 4, is_packed=True, has_past=False,
            do_rotary=1)
group_query("fixed_group_packed_next", 1, 5, [5, 3], 6, is_packed=True, do_rotary=1,
            shown=("y",))
group_query("fixed_group_prompt", 3, 0, [2, 2], 3, has_past=False)


def sink(heads=4):
    return {"sink": draw(heads)}


bias = {"bias": draw(1, 4, 3, 8)}
group_query("fixed_group_bias", 3, 5, [7], 8, extra=bias)
group_query("fixed_group_bias_of_all_heads", 1, 5, [5, 5], 6, extra={"bias": draw(2, 1, 1, 6)},
            do_rotary=1, local_window_size=3)
group_query("fixed_group_sink", 1, 5, [5, 5], 6, extra=sink(), do_rotary=1)
group_query("fixed_group_sink_of_prompt", 4, 0, [3, 3], 4, has_past=False, extra=sink(),
            is_packed=True, local_window_size=2)
group_query("fixed_group_sink_and_bias", 3, 5, [7], 8, extra=bias | sink(), softcap=2.5)
group_query("fixed_group_smooth", 3, 2, [4], 5, smooth_softmax=1)
group_query("fixed_group_positions", 3, 5, [7], 8, extra={"at": np.array([[2, 9, 4]])},
            do_rotary=1)
group_query("fixed_group_of_any_order", 4, 0, [3, 3], 4, has_past=False, causal=0)
group_query("fixed_group_of_shared_cache", 1, 9, [5, 5], 6, extra=sink(), do_rotary=1,
            shown=("y",))

# ONNX Runtime has no norms of heads on CPUs: it answers for heads that have them already.


def normed(x, weight):
    heads = x.astype(float).reshape(*x.shape[:2], -1, weight.size)
    heads = heads / np.sqrt((heads ** 2).mean(-1, keepdims=True) + 0.01) * weight
    return heads.reshape(x.shape).astype(np.float32)


group_query("fixed_group_norms", 3, 5, [7], 8, do_rotary=1)
text, ((q, k, *rest),), *_, judge = CASES.cases.pop("fixed_group_norms")
weights = draw(16), draw(16)
model = onnx.parser.parse_model(text)
answer, words = judge(model, dict(zip((i.name for i in model.graph.input), (
    normed(q, weights[0]), normed(k, weights[1]), *rest))))
case("fixed_group_norms",
     """float[B, L, 64] q, float[B, L, 32] k, float[B, L, 32] v, float[B, 2, P, 16] pk,
     float[B, 2, P, 16] pv, int32[B] n, int32[1] t, float[M, 8] cos, float[M, 8] sin,
     float[16] a, float[16] b ->
     float[B, L, 64] y, float[B, 2, T, 16] nk, float[B, 2, T, 16] nv""",
     """y, nk, nv = ms.GroupQueryAttention<num_heads = 4, kv_num_heads = 2, do_rotary = 1,
     qk_norm_epsilon = 0.01>(q, k, v, pk, pv, n, t, cos, sin, , , , , , a, b)""",
     [q, k, *rest, *weights], by_hand=answer)

# ---- sparse attention: caches are of one place in memory before and behind the call ----

BLOCKS, BLOCK = 3, 16


def run_in_place(model, feeds):
    """Outputs 1 and 2 lie where the inputs pk and pv are."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options,
                                   providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {key: ort.OrtValue.ortvalue_from_numpy(a.copy()) for key, a in feeds.items()}
    for key, value in values.items():
        binding.bind_ortvalue_input(key, value)
    names = [o.name for o in session.get_outputs()]
    binding.bind_output(names[0])
    for name, key in zip(names[1:], ("pk", "pv")):
        binding.bind_ortvalue_output(name, values[key])
    session.run_with_iobinding(binding)
    return [value.numpy().copy() for value in binding.get_outputs()], ""


def compress(masks):
    """Ends of rows, and columns, which are padded with -1."""
    ends = np.cumsum(masks.sum(2), 1)
    ends = np.concatenate([np.zeros((len(masks), 1), int), ends], 1).astype(np.int32)
    columns = [np.nonzero(mask)[1] for mask in masks]
    width = max(map(len, columns))
    return ends, np.array([[*c, *[-1] * (width - len(c))] for c in columns], np.int32)


def attend_sparsely(inputs, masks, past):
    """Heads 4 of queries and 2 of keys, of 16 elements."""
    q, k, v, pk, pv = (inputs[key].astype(float) for key in ("q", "k", "v", "pk", "pv"))
    batch, rows = q.shape[:2]
    q, k, v = (x.reshape(batch, rows, -1, 16).transpose(0, 2, 1, 3) for x in (q, k, v))
    y = np.zeros(q.shape)
    for b in range(batch):
        pk[b, :, past[b]:past[b] + rows], pv[b, :, past[b]:past[b] + rows] = k[b], v[b]
        for h, i in np.ndindex(4, rows):
            at, position = np.arange(pk.shape[2]), past[b] + i
            seen = (at <= position) & (masks[h % len(masks), position // BLOCK, at // BLOCK] > 0)
            w = np.where(seen, np.exp(pk[b, h // 2] @ q[b, h, i] / 4), 0)
            y[b, h, i] = w / w.sum() @ pv[b, h // 2]
    y = y.transpose(0, 2, 1, 3).reshape(batch, rows, -1)
    return [a.astype(np.float32) for a in (y, pk, pv)]


def sparse(name, rows, past, rotary=0, count=2, by_hand=False):
    batch = len(past)
    masks = np.tril(np.ones((2, BLOCKS, BLOCKS), int))[:count]
    masks[0, 2, 0] = masks[-1, 2, 1] = masks[-1, 1, 0] = 0
    ends, columns = compress(masks)
    total = np.array(past, np.int32) + rows
    inputs = {"q": draw(batch, rows, 64), "k": draw(batch, rows, 32), "v": draw(batch, rows, 32),
              "pk": draw(batch, 2, BLOCKS * BLOCK, 16), "pv": draw(batch, 2, BLOCKS * BLOCK, 16),
              "r": ends, "c": columns, "t": total[:1], "n": total}
    if rotary:
        inputs |= {"cos": draw(48, 8), "sin": draw(48, 8)}
    node(name, "y, nk, nv = ms.SparseAttention<>()", inputs,
         {"y": ("float", 3), "nk": ("float", 4), "nv": ("float", 4)},
         f"""num_heads = 4, kv_num_heads = 2, sparse_block_size = {BLOCK},
         do_rotary = {rotary}""", judge=run_in_place,
         by_hand=attend_sparsely(inputs, masks, past) if by_hand else None)


sparse("fixed_sparse_prompt", 40, [0])
sparse("fixed_sparse_next", 1, [45], rotary=1)
sparse("fixed_sparse_of_one_mask", 20, [0], count=1)
# ONNX Runtime answers otherwise where batches are of several lengths; numpy answers.
sparse("fixed_sparse_of_two_lengths", 1, [46, 33], by_hand=True)

# ---- recurrences ----


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrence(name, tokens, rule, queries=2, heads=2, keys=None, has_wide_decay=False,
               has_state=True, beta=None, **attributes):
    d, v, batch, keys = 4, 5, 2, keys or heads
    inputs = {"q": draw(batch, tokens, queries * d), "k": draw(batch, tokens, keys * d),
              "v": draw(batch, tokens, heads * v),
              "s": draw(batch, heads, d, v) if has_state else None,
              "g": -abs(draw(batch, tokens, heads * (d if has_wide_decay else 1)))
              if "gated" in rule else None,
              "b": sigmoid(draw(batch, tokens, beta or heads)) if "delta" in rule else None}
    keys_ = list(inputs)
    while inputs[keys_[-1]] is None:
        del inputs[keys_.pop()]
    node(name, "y, s_ = ms.LinearAttention<>()", inputs, {"y": ("float", 3), "s_": ("float", 4)},
         ", ".join(f"{key} = {value}" for key, value in dict(
             q_num_heads=queries, kv_num_heads=heads, update_rule=f'"{rule}"',
             **attributes).items()))


for rule in ("linear", "gated", "delta", "gated_delta"):
    recurrence(f"recurrence_{rule}", 3, rule)
    recurrence(f"fixed_recurrence_{rule}_of_few_keys", 2, rule, queries=2, heads=4, keys=2)
recurrence("recurrence_of_wide_decay", 4, "gated_delta", 4, 2, has_wide_decay=True)
recurrence("recurrence_of_more_values", 2, "gated_delta", 2, 4)
recurrence("recurrence_without_state", 1, "gated", has_state=False, scale=0.5, chunk_size=32)
recurrence("recurrence_of_one_beta", 2, "delta", beta=1)
recurrence("recurrence_of_no_token", 0, "gated_delta")
for dilation in (1, 2):
    for last in (0, 1):
        x, state = draw(2, 3, 5), draw(2, 3, 3 * dilation)
        if last:
            x, state = x.transpose(0, 2, 1).copy(), state.transpose(0, 2, 1).copy()
        name = f"causal_conv_{dilation}_{'last' if last else 'first'}"
        node(name, "y, s_ = ms.CausalConvWithState<>()",
             {"x": x, "w": draw(3, 1, 4), "b": draw(3), "s": state},
             {"y": ("float", 3), "s_": ("float", 3)},
             f'activation = "silu", dilation = {dilation}, channels_last = {last}')
node("causal_conv_of_channels", "y, s_ = ms.CausalConvWithState<>()",
     {"x": draw(2, 1, 2, 3), "w": draw(6, 1, 4)}, {"y": ("float", 4), "s_": ("float", 4)},
     "channels_last = 1")
node("causal_conv_of_one_tap", "y, s_ = ms.CausalConvWithState()",
     {"x": draw(1, 3, 4), "w": draw(3, 1, 1)}, {"y": ("float", 3), "s_": ("float", 3)})
node("recurrence_gates", "y, z = ms.LinearAttentionGate()",
     {"a": draw(2, 3, 4), "d": draw(4), "s": -abs(draw(4)), "b": draw(2, 3, 4)},
     {"y": ("float", 3), "z": ("float", 3)})
node("recurrence_decay", "y = ms.LinearAttentionGate()",
     {"a": 30 * draw(2, 0, 4), "d": draw(4), "s": -abs(draw(4))}, {"y": ("float", 3)},
     more=([30 * draw(1, 2, 3), draw(3), draw(3)],))
for activation in ("silu", "sigmoid"):
    node(f"gated_norm_{activation}", "y = ms.GatedRMSNorm<>()",
         {"x": draw(2, 3, 8), "s": draw(4), "g": draw(2, 3, 8)}, {"y": ("float", 3)},
         f'activation = "{activation}", epsilon = 0.01',
         more=([draw(1, 0, 6), draw(6), draw(1, 0, 6)],))

# ---- rotations by three streams of positions ----

for layout, sections in ((0, "[2, 3, 1]"), (1, "[2, 2, 2]"), (1, "[4, 1, 1]")):
    for form in ("", ", interleaved = 1"):
        name = f"fixed_streams_{layout}_{sections[1]}{'_interleaved' if form else ''}"
        node(name, "y = ms.MRotaryEmbedding<>()",
             {"x": draw(2, 3, 24), "at": RANDOM.integers(0, 8, (3, 2, 3)), "c": draw(8, 6),
              "s": draw(8, 6)}, {"y": ("float", 3)},
             f"mrope_section = {sections}, mrope_layout = {layout}, num_heads = 2{form}")
node("fixed_streams_of_a_part", "y = ms.MRotaryEmbedding<>()",
     {"x": draw(1, 2, 4, 8), "at": RANDOM.integers(0, 9, (3, 1, 4)), "c": draw(9, 3),
      "s": draw(9, 3)}, {"y": ("float", 4)},
     "mrope_section = [1, 1, 1], num_heads = 2, rotary_embedding_dim = 6")

# ---- forms of ai.onnx's operators ----

node("fixed_pad_of_microsoft", "y = ms.Pad<>()",
     {"x": draw(2, 3), "p": np.array([[0, 2, 1, -1]])}, {"y": ("float", 2)}, 'mode = "edge"')
case("pad_of_constants", "float[A, B] x -> float[C, D] y",
     """p = Constant<value = int64[4] {1, -1, 0, 2}>()
     v = Constant<value = float[1] {2.5}>()
     y = ms.Pad(x, p, v)""", [draw(2, 3)], [draw(0, 1)])
node("range_of_microsoft", "y = ms.Range()", {"a": s(1.5), "b": s(5.0)}, {"y": ("float", 1)})
node("range_backwards", "y = ms.Range()",
     {"a": s([7], np.int64), "b": s([-2], np.int64), "d": s([-3], np.int64)},
     {"y": ("int64", 1)})
node("unique_of_microsoft", "y, i, n = ms.Unique()", {"x": s([2, 1, 1, 3, 4, 3])},
     {"y": ("float", 1), "i": ("int64", 1), "n": ("int64", 1)})
node("inverse", "y = ms.Inverse()", {"x": draw(2, 3, 3)}, {"y": ("float", 3)},
     more=([draw(1, 1, 1)], [s([[[0, 1], [1, 0]]])], [draw(0, 2, 2)], [draw(1, 7, 7)]))
node("windows_of_microsoft", "y = ms.UnfoldTensor<>()", {"x": draw(2, 8, 3)},
     {"y": ("float", 4)}, "dim = 1, size = 3, step = 2")
for cl in (0, 1):
    x = byte(1, 4, 5, 3) if cl else byte(1, 3, 4, 5)
    node(f"qlinear_conv_{'last' if cl else 'first'}", "y = ms.QLinearConv<>()",
         {"x": x, "sx": s(0.1), "zx": s(3, np.uint8), "w": byte(2, 3, 2, 2), "sw": s(0.1),
          "zw": s(4, np.uint8), "sy": s(9.7), "zy": s(100, np.uint8),
          "b": RANDOM.integers(-999, 999, 2).astype(np.int32)},
         {"y": ("uint8", 4)}, f"channels_last = {cl}, pads = [1, 0, 0, 1]", atol=1)
node("matmul_16", "y = ms.MatMulInteger16()",
     {"a": RANDOM.integers(-3000, 3000, (3, 4)).astype(np.int16),
      "b": RANDOM.integers(-3000, 3000, (4, 2)).astype(np.int16)}, {"y": ("int32", 2)}, atol=0)
node("gated_add", "y = ms.GatedAdd()",
     {"x": draw(2, 3, 4), "p": draw(2, 3, 4), "g": draw(2, 3, 1)}, {"y": ("float", 3)})
node("scaled_silu", "y = ms.ScaledSiLU<>()", {"x": draw(2, 3)}, {"y": ("float", 2)},
     "alpha = 0.5")
node("scaled_silu_by_input", "y = ms.ScaledSiLU<>()", {"x": draw(2, 3), "a": s(1.5)},
     {"y": ("float", 2)}, "alpha = 0.5")

for shape in ((3, 4), (12,), (4,)):
    node(f"fixed_branch_norm_{shape[0]}", "y = ms.BranchwiseRMSNorm<>()",
         {"x": draw(2, 3, 4), "s": draw(*shape)}, {"y": ("float", 3)}, "epsilon = 0.01",
         stated=("x", "s"))
node("branch_norm_side_by_side", "y = ms.BranchwiseRMSNorm<>()", {"x": draw(2, 12)},
     {"y": ("float", 2)}, "num_branches = 3", more=([draw(0, 6)],))
for shape in ((2, 3), (2, 3, 1), (2, 3, 4)):
    node(f"mix_branches_{len(shape)}_{shape[-1]}", "y = ms.HyperConnectionPreMix<>()",
         {"x": draw(2, 3, 4), "g": draw(*shape)}, {"y": ("float", 2)}, "reduction_scale = 0.5")
node("fixed_mix_branches_side_by_side", "y = ms.HyperConnectionPreMix<>()",
     {"x": draw(2, 12), "g": draw(2, 12)}, {"y": ("float", 2)}, "num_branches = 3",
     stated=("x", "g"))
node("spread_branches", "y = ms.HyperConnectionPostMix()",
     {"x": draw(2, 3, 4), "b": draw(2, 4), "g": draw(2, 3), "m": draw(2, 3, 3)},
     {"y": ("float", 3)})
node("spread_branches_side_by_side", "y = ms.HyperConnectionPostMix<>()",
     {"x": draw(2, 5, 12), "b": draw(2, 5, 4), "g": draw(2, 5, 3, 4)}, {"y": ("float", 3)},
     "num_branches = 3")
for size in (1, 2, 3, 6):
    node(f"repeats_of_{size}", "y = ms.NGramRepeatBlock<>()",
         {"i": np.array([[1, 2, 1, 2, 1], [3, 3, 3, 0, 3]]), "s": draw(2, 4)},
         {"y": ("float", 2)}, f"ngram_size = {size}")

# Of these ONNX Runtime has no kernels for CPUs; numpy answers.
x, y, z = draw(2, 3, 4), draw(4), draw(2, 3, 4)
node("bias_dropout_of_test", "o, m = ms.BiasDropout()", {"x": x, "b": y, "r": z},
     {"o": ("float", 3), "m": ("bool", 3)}, by_hand=[x + y + z, np.ones(x.shape, bool)])
x, y, z = draw(2, 3), draw(3, 4), draw(4)
w = x @ y + z
node("gemm_gelu", "o = ms.GemmFastGelu()", {"x": x, "w": y, "b": z}, {"o": ("float", 2)},
     by_hand=[(w / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (w + 0.044715 * w ** 3))))
              .astype(np.float32)])
x, y = byte(3, 4), byte(4)
node("mul_integers", "o = ms.MulInteger()",
     {"a": x, "za": s(7, np.uint8), "b": y, "zb": s(200, np.uint8)}, {"o": ("int32", 2)},
     by_hand=[(x.astype(np.int32) - 7) * (y.astype(np.int32) - 200)])
a, b = draw(2, 3, 2), draw(3, 2)
p, q = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
for text, product in (("y = ms.ComplexMul()", p * q), ("y = ms.ComplexMulConj()", p * q.conj())):
    node(f"products_{text[7:-2].lower()}", text, {"a": a, "b": b}, {"y": ("float", 3)},
         by_hand=[np.stack([product.real, product.imag], -1).astype(np.float32)])
x = draw(2, 8)
f = np.fft.rfft(x)
pairs = np.stack([f.real, f.imag], -1).astype(np.float32)
node("rfft", "y = ms.Rfft<>()", {"x": x}, {"y": ("float", 3)}, "signal_ndim = 1",
     by_hand=[pairs])
node("irfft", "y = ms.Irfft<>()", {"x": pairs}, {"y": ("float", 2)}, "signal_ndim = 1",
     by_hand=[x])

# ---- ends and beginnings of keys, crops of images, hashes ----

x, w, b = draw(2, 5, 8), draw(8, 24), draw(24)
for name, mask, attributes in (
    ("ends", [3, 5], ""), ("ends_and_starts", [4, 5, 1, 2], ""),
    ("ends_and_starts_causal", [4, 5, 0, 2], ", unidirectional = 1"),
    ("ends_beyond", [9, 4, 1, -3], ""), ("packed_rows", [4, 5, 0, 4, 9, 0, 4, 9], "")):
    node(f"attention_{name}", "y = ms.Attention<>()",
         {"x": x, "w": w, "b": b, "m": s(mask, np.int32)}, {"y": ("float", 3)},
         f"num_heads = 2{attributes}")
node("attention_ends_and_starts_past", "y, z = ms.Attention<>()",
     {"x": x, "w": w, "b": b, "m": s([6, 7, 1, 0], np.int32), "p": draw(2, 2, 2, 2, 4)},
     {"y": ("float", 3), "z": ("float", 5)}, "num_heads = 2")
x = draw(2, 3, 5, 6)
x[0, 0, 2, 2], x[1, 1, 0, 0] = np.nan, np.inf
boxes = s([[0, 0, 1, 1], [.1, .2, .7, .9], [-.2, 0, 1.3, .5], [.9, .8, .1, .2], [.5, .5, .5, .5]])
for mode in ("bilinear", "nearest"):
    for size in ((3, 4), (1, 1), (1, 5), (7, 2)):
        node(f"crops_{mode}_{size[0]}_{size[1]}", "y = ms.CropAndResize<>()",
             {"x": x, "r": boxes, "i": s([0, 1, 0, 1, 1], np.int32), "c": s(size, np.int32)},
             {"y": ("float", 4)}, f'mode = "{mode}", extrapolation_value = 2.5',
             more=([x, boxes[:0], s([], np.int32), s(size, np.int32)],))
keys = s([3, -1, 0, 2**31 - 1, -2**31], np.int32)
for name, key, attributes, word in (
    ("i32", keys, "", "uint32"), ("signed", keys, "seed = -5, positive = 0", "int32"),
    ("u32", keys.view(np.uint32), "seed = 9", "uint32"),
    ("i64", s([3, -1, 2**62], np.int64), "", "uint32"),
    ("f64", s([3, -0.0, np.inf, np.nan], np.float64), "", "uint32")):
    node(f"hashes_{name}", "y = ms.MurmurHash3<>()", {"k": key}, {"y": (word, 1)}, attributes,
         more=([key[:0]], [key[:1]]))

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "contrib.tar.xz"])
