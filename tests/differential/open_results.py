"""Results that ONNX leaves open, or where ONNX Runtime is known to be off.

SPDX-License-Identifier: Apache-2.0

Each row names an operator, says when its result is open, and cites who says so.  A drawn
node whose values meet a row is left out of its graph and counted, or kept, and then code is
held to the interpreter.  Even these two may differ where a row is free, in what follows of
the result (its extents, what is refused): such nodes are always left out; and where it is
loose, in its numbers alone: such nodes are kept, and what comes of them is not compared.
"""

import numpy as np

from chain import FLOATS, SUMS_OF_FLOATS, Step, dtype_of, judge_mask, range_of

ROWS, FREE, LOOSE = [], set(), set()
JUDGED, HELD, UNKNOWN = range(3)  # what an output is held to: ONNX Runtime, the interpreter


def row(*operators, why, is_free=False, is_loose=False):
    """`why`: the reason, with the specification's section or the runtime's issue."""
    def register(test):
        ROWS.append((operators, test, why))
        if is_free:
            FREE.add(why)
        if is_loose:
            LOOSE.add(why)
        return test

    return register


def has_nan(array):
    return dtype_of(array) in FLOATS and bool(np.isnan(array.astype(np.float64)).any())


def attribute(node, name, default=None):
    for found in node.attribute:
        if found.name == name:
            import onnx
            return onnx.helper.get_attribute_value(found)
    return default


@row("Cast", "CastLike", why="a float outside of the integer's range: undefined "
     "(onnx, Operators.md, Cast: 'OOR -> undefined')")
def cast_out_of_range(node, inputs, outputs):
    source, result = inputs[0], outputs[0]
    if dtype_of(source) not in FLOATS or result.dtype.kind not in "iu":
        return False
    info = np.iinfo(result.dtype)
    wide = np.trunc(source.astype(np.float64))
    return not ((wide >= info.min) & (wide < float(info.max) + 1)).all()


@row("Div", "Mod", why="integer division by 0, or of the least number by -1: undefined "
     "(onnx, Operators.md, Div: 'undefined behavior')")
def integer_division(node, inputs, outputs):
    a, b = inputs[:2]
    if dtype_of(a) in FLOATS:
        return False
    lowest = np.iinfo(a.dtype).min
    return bool((b == 0).any() or (lowest < 0 and ((b == -1).any() and
                                                  (a == lowest).any())))


@row("Dropout", why="the mask before opset 12: only from then on is it said to be true "
     "where nothing is dropped; ONNX Runtime gives false (core/providers/cpu/nn/dropout_op)")
def mask_before_12(node, inputs, outputs):
    return len(node.output) > 1 and bool(node.output[1]) and not outputs[-1].all()


@row("Sign", why="of a NaN: ONNX says nothing; ONNX Runtime gives NaN for f32 and 0 for f16 "
     "(core/providers/cpu/math/sign.cc)")
def sign_of_nan(node, inputs, outputs):
    return has_nan(inputs[0])


@row("Compress", why="a condition longer than the axis: Operators.md only says 'less than'; "
     "ONNX Runtime drops the rest")
def long_condition(node, inputs, outputs):
    axis = attribute(node, "axis")
    extent = inputs[0].size if axis is None else inputs[0].shape[axis]
    return inputs[1].size > extent


@row("BitShift", why="shifts of the width or more are undefined in C++, which ONNX "
     "Runtime's kernel uses (bitshift in element_wise_ops.cc); ONNX says nothing")
def wide_shift(node, inputs, outputs):
    return bool((inputs[1] >= inputs[1].dtype.itemsize * 8).any())


NO_ROUNDS = ("extents of what a loop without rounds scans: onnx, Operators.md, Loop, says "
             "nothing; ONNX Runtime takes 0 for those that the body does not state "
             "(core/providers/cpu/controlflow/loop.cc), and code those that it knows")
FREE.add(NO_ROUNDS)


def scans_nothing(step, outputs):
    return "Loop" in step.operators and any(
        not isinstance(o, list) and o.ndim > 1 and o.size == 0 for o in outputs)


@row("ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "Clip", "Min", "Max", "TopK",
     "Hardmax", "ArgMax", "ArgMin", "Unique", "HardSigmoid", "HardSwish",
     "DynamicQuantizeLinear",
     why="whether a NaN or a number is the larger one: ONNX says nothing; ONNX Runtime's "
     "answer depends on the place (onnxruntime issues 10514 and 21455, onnx issue 6003)")
def order_of_nan(node, inputs, outputs):
    return any(i is not None and has_nan(i) for i in inputs)


@row("Softmax", "LogSoftmax", "ReduceLogSumExp", "SoftmaxCrossEntropyLoss",
     why="the maximum of a row with a NaN or infinities: as above; ONNX Runtime's kernels "
     "for f32 and f64 differ (core/providers/cpu/math/softmax_shared.cc: MLAS and Eigen)")
def softmax_of_nan(node, inputs, outputs):
    return dtype_of(inputs[0]) in FLOATS and not np.isfinite(
        inputs[0].astype(np.float64)).all()


@row("ScatterElements", "ScatterND",
     why="the maximum or minimum with a NaN: as above (onnxruntime issue 10514)")
def scattered_nan(node, inputs, outputs):
    return attribute(node, "reduction", b"none") in (b"max", b"min") and (
        has_nan(inputs[0]) or has_nan(inputs[2]))


@row("RNN", "GRU", "LSTM", is_loose=True,
     why="a gate's sum whose terms, all of one sign, leave the type: infinity or NaN, as the "
     "terms' order decides, of which ONNX says nothing")
def gate_leaves_range(node, inputs, outputs):
    sizes = [np.where(np.isfinite(i), np.abs(i.astype(np.float64)), 0) for i in inputs[:3]]
    states = inputs[5] if len(inputs) > 5 else None
    state = 1 if states is None else max(1, np.abs(states.astype(np.float64)).max(initial=0))
    with np.errstate(all="ignore"):
        terms = np.einsum("abi,dgi->dgab", sizes[0], sizes[1]).max(initial=0)
        terms = terms + state * sizes[2].sum(-1).max(initial=0)
    return bool(terms > range_of(dtype_of(inputs[0]))[1])


@row("RNN", "GRU", "LSTM",
     why="ONNX Runtime's sigmoid and tanh clamp their operand, which loses a NaN "
     "(core/mlas/lib/logistic.cpp; onnxruntime issue 22557 for what else it loses)")
def recurrent_nan(node, inputs, outputs):
    return any(i is not None and not np.isfinite(i).all() for i in inputs)


@row("RNN", "GRU", "LSTM",
     why="the last state of no steps: ONNX Runtime gives 0, also where there is a first one, "
     "which is the 'last output value of the hidden' then (Operators.md, RNN)")
def state_of_no_steps(node, inputs, outputs):
    return inputs[0].shape[attribute(node, "layout", 0)] == 0


@row("GridSample", why="a place that no integer holds: a conversion that C++ leaves undefined "
     "(core/providers/cpu/tensor/grid_sample.cc); it is outside of the image, or as in torch")
def place_beyond_integers(node, inputs, outputs):
    extent = max(inputs[0].shape[2:], default=1)
    return not (np.abs(inputs[1].astype(np.float64)) * extent < 2.0**62).all()


@row("Clip", why="what is below the lowest or above the largest number without a bound: "
     "'default to numeric_limits::lowest()' (Operators.md), but the operator's own "
     "function body has no bound then (onnx/defs/math/defs.cc, BuildFunctionBodyClip)")
def clip_without_bound(node, inputs, outputs):
    return bool(np.isinf(inputs[0].astype(np.float64)).any()) if (
        dtype_of(inputs[0]) in FLOATS) else False


@row("Resize", "Upsample", "GridSample", why="whether a neighbour of weight 0 is read: "
     "onnx, Operators.md, Resize, gives weights only")
def weight_of_zero(node, inputs, outputs):
    return dtype_of(inputs[0]) in FLOATS and not np.isfinite(
        inputs[0].astype(np.float64)).all()


@row("QuantizeLinear", "DynamicQuantizeLinear", "QLinearMatMul", "QLinearConv",
     why="a quotient that no 32-bit integer holds: a conversion that C++ leaves undefined "
     "(core/mlas/lib/quantize.cpp); ONNX says 'saturate', and ONNX's own evaluator casts")
def quantize_out_of_range(node, inputs, outputs):
    if node.op_type != "QuantizeLinear":
        return dtype_of(inputs[0]) in FLOATS and not np.isfinite(inputs[0]).all()
    wide = inputs[0].astype(np.float64)
    with np.errstate(all="ignore"):
        lowest = np.abs(inputs[1].astype(np.float64)).min(initial=np.inf)
        return not (np.abs(wide) / max(lowest, 1e-300) < 2**31).all()


@row("QuantizeLinear", why="a quotient of halves that is a tie in 16 bits and none in 32: before "
     "opset 23 nothing is said, from then on it is of the scale's type (Operators.md, "
     "QuantizeLinear, precision); ONNX Runtime divides in f32")
def quotient_of_halves(node, inputs, outputs):
    x, scale = inputs[:2]
    if dtype_of(scale) not in ("f16", "bf16"):
        return False
    if scale.ndim == 1:
        axis = attribute(node, "axis", 1) % max(1, x.ndim)
        scale = scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    with np.errstate(all="ignore"):
        wide = np.rint(x.astype(np.float32) / scale.astype(np.float32))
        narrow = np.rint((x.astype(scale.dtype) / scale).astype(np.float32))
    return bool((wide != narrow).any())


@row("Elu", "Selu", "Celu", why="of a denormal: exp(x) - 1 is 0 in ONNX Runtime "
     "(core/providers/cpu/activation/activations.h), x times alpha where it is exact")
def exponential_of_denormal(node, inputs, outputs):
    x = inputs[0].astype(np.float64)
    lowest = np.finfo(np.float32).tiny if dtype_of(inputs[0]) != "f64" else 2.3e-308
    return bool(((x < 0) & (x > -lowest)).any())


@row("QLinearMatMul", "QLinearConv", "MatMulInteger", "ConvInteger",
     why="bytes times signed bytes: ONNX Runtime adds pairs of products in 16 bits, which "
     "saturate, where the machine has AVX2 alone (its quantisation page, reduce_range)")
def products_that_saturate(node, inputs, outputs):
    position = 3 if node.op_type.startswith("QLinear") else 1
    pair = inputs[0], inputs[position]
    return any(a.dtype == np.uint8 for a in pair) and any(
        b.dtype == np.int8 and (np.abs(b.astype(np.int64)) > 63).any() for b in pair)


@row("ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul",
     why="products of nothing: ONNX Runtime leaves what its memory holds, other numbers at each "
     "call, where a sum of nothing is 0")
def sum_of_no_products(node, inputs, outputs):
    weights = inputs[3 if node.op_type.startswith("QLinear") else 1]
    axis = 1 if "Conv" in node.op_type else max(0, weights.ndim - 2)
    return weights.shape[axis] == 0


@row("ConcatFromSequence", is_free=True,
     why="tensors of other extents that are stacked: 'All tensors must have the same shape' "
     "(onnx, Operators.md, ConcatFromSequence, new_axis), ONNX Runtime leaves out those that "
     "are empty, and a stack that nothing reads is not made")
def stack_of_unlike(node, inputs, outputs):
    return bool(attribute(node, "new_axis", 0)) and len({i.shape for i in inputs[0]}) > 1


@row("Resize", why="the nearest element of a smaller image before opset 11: which one is "
     "not said; ONNX Runtime rounds up (upsample_base.h, ResizeNearestMode::SIMPLE)")
def smaller_before_11(node, inputs, outputs):
    return len(inputs) == 2 and bool((inputs[1] < 1).any())


@row("MaxPool", "AveragePool", "LpPool", why="a window larger than the padded input: "
     "Operators.md rounds (input - kernel) / stride down, ONNX Runtime towards 0 "
     "(core/providers/cpu/nn/pool_attributes.h, ComputeOutputSize)")
def window_beyond_input(node, inputs, outputs):
    kernel = attribute(node, "kernel_shape")
    rank = len(kernel)
    pads = attribute(node, "pads", [0] * 2 * rank)
    dilations = attribute(node, "dilations", [1] * rank)
    return any(e + pads[i] + pads[i + rank] < (k - 1) * d + 1 for i, (e, k, d) in
               enumerate(zip(inputs[0].shape[2:], kernel, dilations)))


@row("LpPool", "MaxPool", "AveragePool",
     why="auto_pad where strides leave padding below 0, of which Operators.md says nothing: "
     "ONNX Runtime 1.31.1 begins behind the first element, or refuses it "
     "(core/providers/cpu/nn/pool_attributes.h)")
def negative_padding(node, inputs, outputs):
    kernel = attribute(node, "kernel_shape")
    dilations = attribute(node, "dilations", [1] * len(kernel))
    kernel = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    strides = attribute(node, "strides", [1] * len(kernel))
    return attribute(node, "auto_pad", b"NOTSET").startswith(b"SAME") and any(
        (o - 1) * s + k < e for e, o, k, s in
        zip(inputs[0].shape[2:], outputs[0].shape[2:], kernel, strides))


@row("GlobalLpPool", why="of many elements: ONNX Runtime's is one running sum in f32, which loses "
     "1e-5 of 6,561 positive terms, and always on the same side (Eigen's lpNorm)")
def long_sum(node, inputs, outputs):
    return bool(np.prod(inputs[0].shape[2:]) > 500)


@row("ReduceSumSquare", "ReduceL1", "ReduceL2", why="of many elements that lie apart: one running "
     "sum in f32, too (3e-6 of the sum where terms are positive)")
def long_reduction(node, inputs, outputs):
    return inputs[0].size > 500 * max(1, outputs[0].size)


@row("LRN", why="small windows behind large ones: ONNX Runtime's sum of squares runs along the "
     "channels, adds one and takes one off (core/providers/cpu/nn/lrn.cc), and keeps the last "
     "places of the largest; a NaN or an infinity stays in it")
def running_sum(node, inputs, outputs):
    size, squares = attribute(node, "size"), inputs[0].astype(np.float64)**2
    if not np.isfinite(squares).all():
        return True
    alpha, beta = attribute(node, "alpha", 1e-4) / size, attribute(node, "beta", 0.75)
    before, channels = (size - 1) // 2, squares.shape[1]
    windows = np.stack([squares[:, max(0, c - before):c - before + size].sum(1)
                        for c in range(channels)], 1)
    scale = attribute(node, "bias", 1.0) + alpha * windows
    kept = 2.0**-23 * abs(alpha * beta) * np.cumsum(squares, 1)
    return bool((kept > 1e-6 * np.abs(scale)).any())


@row("Conv", "ConvTranspose", is_free=True,
     why="whether a padded 0 meets a weight: an infinite weight or a NaN makes NaN of it, where "
     "columns are laid out with zeros (im2col; compose/conv_transposed.c) or not")
def padding_meets_weight(node, inputs, outputs):
    return dtype_of(inputs[1]) in FLOATS and not np.isfinite(
        inputs[1].astype(np.float64)).all()


@row("MeanVarianceNormalization", why="a variance of 0: E[x^2] - E[x]^2, as the "
     "operator's function body has it, may round below 0 (onnx/defs/nn/defs.cc)")
def variance_of_zero(node, inputs, outputs):
    return has_nan(outputs[0])


@row("Shrink", why="integers and small doubles that f32 does not hold, and bounds that a narrow "
     "float does not: ONNX Runtime's kernel goes by way of f32 (core/providers/cpu/nn/shrink.h), "
     "the operator's function body casts the bounds (onnx/defs/nn/defs.cc)")
def beyond_f32(node, inputs, outputs):
    size = np.abs(inputs[0].astype(np.float64))
    if dtype_of(inputs[0]) in ("f16", "bf16"):
        bounds = np.array([attribute(node, "bias", 0.0), attribute(node, "lambd", 0.5)])
        return bool((bounds.astype(inputs[0].dtype) != bounds).any())
    if dtype_of(inputs[0]) == "f64":
        return bool(((size > 0) & (size < np.finfo(np.float32).tiny)).any())
    return dtype_of(inputs[0]) not in FLOATS and bool((size > 2**20).any())


@row("ReduceMean", "ReduceMax", "ReduceMin", "GlobalAveragePool", "AveragePool",
     "LpNormalization",
     why="of nothing: 'Reduction over an empty set of values yields undefined' (onnx, "
     "Operators.md, ReduceMean); ONNX Runtime gives 0 in some shapes")
def mean_of_nothing(node, inputs, outputs):
    return inputs[0].size == 0 and outputs[0].size > 0


@row("PRelu", why="an infinite slope at 0: Operators.md gives x from 0 on, ONNX's evaluator "
     "multiplies there")
def slope_at_zero(node, inputs, outputs):
    return bool((inputs[0] == 0).any()) and dtype_of(inputs[1]) in FLOATS and not np.isfinite(
        inputs[1].astype(np.float64)).all()


@row("ArgMax", "ArgMin", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2",
     "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
     why="of nothing: before opset 18 ONNX Runtime keeps an extent of 0 where keepdims "
     "says 1; the place of the largest of nothing is none")
def extent_of_nothing(node, inputs, outputs):
    return inputs[0].size == 0 and outputs[0].size == 0 and 0 in outputs[0].shape


@row("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2",
     "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
     why="of nothing, along axes that are counted from the end: ONNX Runtime keeps their extents "
     "(axes [1, -1, -3] of [3, 0, 9] leave [3, 1, 9], axes [1, 2, 0] [1, 1, 1]); ONNX's evaluator "
     "does not")
def axes_of_nothing(node, inputs, outputs):
    axes = attribute(node, "axes", [])
    if len(inputs) > 1 and inputs[1] is not None:
        axes = inputs[1].ravel()
    return inputs[0].size == 0 and any(a < 0 for a in axes)


@row("Gemm", why="of nothing: without products ONNX Runtime gives C, not beta * C, which "
     "Operators.md says and ONNX's evaluator gives")
def beta_of_nothing(node, inputs, outputs):
    return inputs[0].size == 0 and attribute(node, "beta", 1.0) != 1.0


@row("Attention", why="rows without a key, in f64: ONNX Runtime gives NaN, and 0 in f32, as "
     "ONNX's evaluator does in both")
def rows_without_keys(node, inputs, outputs):
    return dtype_of(inputs[0]) == "f64" and has_nan(outputs[0])


@row("Slice", why="INT_MAX as the end of a slice that goes backwards: Operators.md clamps "
     "it to n - 1, ONNX Runtime takes it as 'to the end' (slice_helper.h)")
def largest_end_backwards(node, inputs, outputs):
    if len(inputs) < 5 or inputs[4] is None:
        return False
    return bool(((inputs[4] < 0) & (inputs[2] >= 2**31 - 1)).any())


@row("ReduceProd", "CumProd", why="a product that leaves the range before it meets a 0: "
     "ONNX says nothing about the order of factors, nor about their width", is_loose=True)
def product_leaves_range(node, inputs, outputs):
    if dtype_of(inputs[0]) not in FLOATS:
        return False
    with np.errstate(all="ignore"):
        wide = np.abs(inputs[0].astype(np.float64))
        logs = np.abs(np.log(np.where((wide > 0) & np.isfinite(wide), wide, 1))).sum()
    highest = {"f16": 8, "f64": 600}.get(dtype_of(inputs[0]), 80)
    return bool(logs > highest or np.isinf(wide).any())


@row("Gemm", why="a product of halves that leaves the type before alpha scales it and C is "
     "added: ONNX says nothing of the width in between, ONNX Runtime's is f32")
def product_leaves_halves(node, inputs, outputs):
    if dtype_of(inputs[0]) not in ("f16", "bf16"):
        return False
    a, b = (np.abs(i.astype(np.float64)) for i in inputs[:2])
    a, b = a.T if attribute(node, "transA") else a, b.T if attribute(node, "transB") else b
    with np.errstate(all="ignore"):
        return bool(((a @ b) > range_of(dtype_of(inputs[0]))[1]).any())


@row("ConvTranspose", why="auto_pad SAME with a kernel smaller than the stride: the result "
     "is in * stride (Operators.md), which needs a negative padding; ONNX Runtime takes 0 "
     "(conv_transpose_attributes.h)")
def same_of_small_kernel(node, inputs, outputs):
    kernel = inputs[1].shape[2:]
    strides = attribute(node, "strides", [1] * len(kernel))
    return attribute(node, "auto_pad", b"").startswith(b"SAME") and any(
        k < s for k, s in zip(kernel, strides))


def power_of(inputs):
    """The largest that Pow may give."""
    with np.errstate(all="ignore"):
        if not np.isfinite(np.power(*(i.astype(np.float64) for i in inputs))).all():
            return np.inf  # a 0 to a negative power, a root of a negative number
    base, exponent = (float(np.abs(i.astype(np.float64)).max(initial=1)) for i in inputs)
    return 2.0**min(1000.0, np.log2(base) * exponent)


SUMS = ("ReduceSum", "ReduceSumSquare", "ReduceProd", "ReduceL1", "ReduceMean", "CumSum",
        "CumProd", "MatMul", "Gemm", "Einsum", "Mean", "Pow", "ReduceLogSum", "ReduceL2",
        "ReduceLogSumExp", "Range", "Mod", "QLinearMatMul")


@row("ReduceMean", is_loose=True,
     why="the mean of integers whose sum no double holds: its last place is that of the order "
     "of the terms, of which ONNX says nothing")
def long_sum_of_integers(node, inputs, outputs):
    return dtype_of(inputs[0]) not in FLOATS and (
        np.abs(inputs[0].astype(np.float64)).sum() >= 2.0**53)


@row(*SUMS, why="a sum or product of integers that leaves the type: ONNX says nothing, "
     "and ONNX Runtime's kernels wrap, saturate or go by way of doubles (Mod's of numbers "
     "past 2^53: core/providers/cpu/math/element_wise_ops.cc)")
def integer_overflow(node, inputs, outputs):
    for array in inputs:
        if array is not None and array.dtype.kind in "iu" and array.size:
            largest = float(np.abs(array.astype(np.float64)).max())
            room = min(2.0**53, 2.0**(array.dtype.itemsize * 8 - 1))
            if node.op_type in ("ReduceSum", "ReduceL1", "ReduceMean", "CumSum", "Mean"):
                power = largest * array.size
            elif node.op_type == "Pow":
                power = power_of(inputs)
            elif node.op_type in ("ReduceProd", "CumProd"):
                power = 2.0**min(1000.0, np.log2(max(1.0, largest)) * array.size)
            else:
                power = largest * largest * array.size
            if power >= room and node.op_type != "Mod":
                return True
            if node.op_type == "Mod" and largest >= 2.0**53:
                return True
    return False


SQUARES = ("LpNormalization", "LpPool", "GlobalLpPool", "ReduceL2", "ReduceSumSquare", "LRN",
           "LayerNormalization", "RMSNormalization", "InstanceNormalization",
           "GroupNormalization", "MeanVarianceNormalization", "BatchNormalization")


@row(*SQUARES, is_loose=True,
     why="a square, or the square of a sum, that the type itself does not hold, and factors that "
     "are infinite: the interpreter's are doubles, and code makes one factor and one addend of "
     "those of a channel, as ONNX Runtime does")
def squares_beyond_type(node, inputs, outputs):
    for array in inputs:
        if array is None or dtype_of(array) not in FLOATS:
            continue
        min_normal, largest = range_of(dtype_of(array))
        with np.errstate(all="ignore"):
            wide = np.abs(array.astype(np.float64))
            if ((wide > 0) & (wide**2 < min_normal)).any() or np.nansum(wide)**2 > largest:
                return True
    return False


@row(*SQUARES, why="a square or its sum that leaves the range: by what order the terms are taken, "
     "and in which width, ONNX says nothing (LayerNormalization's stash_type apart)")
def squares_leave_range(node, inputs, outputs):
    for array in inputs:
        if array is None or dtype_of(array) not in FLOATS:
            continue
        wide = np.abs(array.astype(np.float64))
        with np.errstate(all="ignore"):
            if ((wide > 0) & (wide < 1e-15) | np.isinf(wide) | (wide > 1e15)).any():
                return True
    return False


@row("MaxPool", "GlobalMaxPool", why="the maximum of -infinities, or of padding alone: ONNX Runtime begins "
     "with the lowest number (core/providers/cpu/nn/pool_functors.h, MaxPool), ONNX's "
     "padding is -infinity")
def lowest_for_infinity(node, inputs, outputs):
    lowest = [np.finfo(t).min for t in (np.float32, np.float64)]  # of f32, where it lacks f64
    return dtype_of(outputs[0]) in ("f32", "f64") and bool(np.isin(outputs[0], lowest).any())


@row("Resize", "Upsample", why="integers between two elements: how the mean is rounded, "
     "and in which width it is taken, ONNX says nothing (Operators.md, Resize and "
     "Upsample); ONNX Runtime's weights are f32 and it truncates "
     "(core/providers/cpu/tensor/upsample.cc)")
def interpolated_integers(node, inputs, outputs):
    return dtype_of(inputs[0]) not in FLOATS and attribute(
        node, "mode", b"nearest") != b"nearest"


NESTED_SUM = ("a sum within a branch or a loop whose terms leave the range: infinity or "
              "NaN, as the terms' order decides, of which ONNX says nothing")


def nested_sum_leaves_range(step, outputs):
    return step.node.op_type in ("If", "Loop", "Scan") and bool(
        step.operators & SUMS_OF_FLOATS) and any(
            not isinstance(o, list) and dtype_of(o) in FLOATS and
            not np.isfinite(o.astype(np.float64)).all() for o in outputs)


# ONNX's own evaluator is no judge of these: it has one form for all opsets (Softmax),
# other axes (GlobalMaxPool squeezes them), floats for integers (Gemm), appends what a loop
# scans along its first axis instead of a new one (op_loop.py), inserts before the first
# tensor of a sequence what goes behind its last (op_sequence_insert.py), and ignores attributes
# (clip, direction and lengths of recurrent layers: op_rnn.py, op_lstm.py).
NO_REFERENCE = {
    "Softmax", "LogSoftmax", "Hardmax", "Loop", "Scan", "RNN", "GRU", "LSTM", "Gemm",
    "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool", "MaxPool", "AveragePool",
    "LpPool", "LRN", "Conv", "ConvTranspose", "Resize", "Upsample", "GridSample",
    "BatchNormalization", "InstanceNormalization", "GroupNormalization", "Attention",
    "LpNormalization", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "TopK",
    "Unique", "Shrink", "OneHot", "SequenceInsert",
}


UNABLE = "ONNX Runtime lacks the type, and ONNX's evaluator is no judge of it"


def find_in_function(step, inputs):
    """Why a node of the called function is open for these inputs, or None: it was drawn for
    those of its first call."""
    if step.judge == "reference" and step.operators & NO_REFERENCE:
        return UNABLE
    function = next(f for f in step.functions if f.name == step.node.op_type)
    values = dict(zip(function.input, inputs))
    for node in function.node:
        inner = Step(node, step.opset, step.functions if node.domain else ())
        made = inner.open({n: values[n] for n in inner.reads}, ())
        why = find_open_result(inner, [values.get(n) for n in node.input], made)
        if why:
            return why
        values.update(zip(inner.makes, made))
    return None


def find_open_result(step, inputs, outputs):
    """Why nobody can say what the step's node gives, or None."""
    node = step.node
    if node.domain:
        return find_in_function(step, inputs)
    if step.judge == "reference" and step.operators & NO_REFERENCE:
        return UNABLE
    if scans_nothing(step, outputs):
        return NO_ROUNDS
    if nested_sum_leaves_range(step, outputs):
        return NESTED_SUM
    for operators, test, why in ROWS:
        if node.op_type in operators and test(node, inputs, outputs):
            return why
    return None


def level_of(step, why, given):
    """What the step's results are held to.  `why`: that of find_open_result; `given`: what it
    reads, as (level, variants) each.  The variants are ONNX Runtime's: where these are unsure
    and its result is no measure either, nobody knows how far code may be off."""
    if any(level == UNKNOWN for level, _ in given) or why in LOOSE:
        return UNKNOWN
    if not why:
        return max((level for level, _ in given), default=JUDGED)
    masks = [judge_mask(v) for _, v in given if not isinstance(v[0], list)]
    return HELD if all(m is not None and m[0].all() for m in masks) else UNKNOWN
