#!/usr/bin/env python3
"""Writes stored cases of com.microsoft's operators for language models and signals, with
ONNX Runtime's answers; microsoft.py has those that optimisers and quantisers write.

SPDX-License-Identifier: Apache-2.0

    contrib.py [ARCHIVE]        (tests/differential/cases/contrib.tar.xz)
"""

import pathlib
import sys

import numpy as np

sys.dont_write_bytecode = True

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


def case(name, signature, body, *sets, rtol=1e-3, atol=1e-4, by_hand=None):
    body = body.replace("ms.", "com.microsoft.")
    CASES.add(name, 17, signature, body, *sets, rtol=rtol, atol=atol, by_hand=by_hand,
              domains=', "com.microsoft": 1')


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
    most = abs(draw((n * k + block - 1) // block))
    if by_hand:
        numbers = np.stack([b >> 4, b & 15], 1).reshape(-1)[:n * k]
        w = np.concatenate([FP4, -FP4])[numbers] * np.repeat(most, block)[:n * k]
        by_hand = [a @ w.reshape(n, k)]
    node(name, "y = ms.MatMulBnb4<>()", {"a": a, "b": b, "m": most}, {"y": ("float", a.ndim)},
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
    node(f"{text[7:17]}_without_zeros".lower(), text,
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

if __name__ == "__main__":
    CASES.write(*sys.argv[1:] or [HERE / "cases" / "contrib.tar.xz"])
