"""torch.nn.functional: what torch writes in Python over its operators.

A function that is not here is the operator of the same name; with inplace=True it is the operator
with a `_` behind its name.  SPDX-License-Identifier: Apache-2.0
"""
import torch

from ._operators import __getattr__


def _each(value, count):
    """A value for each of so many axes."""
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


# ---- activations ----

def logsigmoid(input):
    return torch.log_sigmoid(input)


def _axis(input, dim):
    """The axis that torch takes where none is given."""
    if dim is None:
        return 0 if input.dim() in (0, 1, 3) else 1
    return dim


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return torch.softmax(input, _axis(input, dim), dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return torch.log_softmax(input, _axis(input, dim), dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return torch.softmax(-input, _axis(input, dim), dtype)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    if training:
        raise NotImplementedError("rrelu in training draws random numbers")
    slope = (lower + upper) / 2.0
    return torch.leaky_relu_(input, slope) if inplace else torch.leaky_relu(input, slope)


def _drop(operator, input, p, training):
    return operator(input, p, training) if training and p > 0 else input


def dropout(input, p=0.5, training=True, inplace=False):
    return _drop(torch.dropout, input, p, training)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _drop(torch.alpha_dropout, input, p, training)


def feature_dropout(input, p=0.5, training=True, inplace=False):
    return _drop(torch.feature_dropout, input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _drop(torch.feature_alpha_dropout, input, p, training)


dropout1d = dropout2d = dropout3d = feature_dropout


# ---- look-ups and norms ----

def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
              scale_grad_by_freq=False, sparse=False):
    assert max_norm is None, "embedding: max_norm changes the weights"
    return torch.embedding(weight, input)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2,
                  scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    assert max_norm is None, "embedding_bag: max_norm changes the weights"
    if input.dim() == 2:
        offsets = torch.arange(0, input.numel(), input.size(1))
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    pool = {"sum": 0, "mean": 1, "max": 2}[mode]
    return torch.embedding_bag(weight, input, offsets, False, pool, False, per_sample_weights,
                               include_last_offset, padding_idx)[0]


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-5):
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum,
                            eps, False)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats=True, momentum=0.1, eps=1e-5):
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
                               momentum, eps, False)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    pads = [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2]
    wide = torch.constant_pad_nd(input * input, pads, 0)
    total = torch.zeros_like(input)
    for i in range(size):
        total = total + wide.narrow(1, i, input.size(1))
    return input / (total / size * alpha + k) ** beta


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    return input / torch.norm(input, p, dim, True).clamp_min(eps).expand_as(input)


# ---- pooling and shape ----

def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    pool = torch.max_pool1d_with_indices if return_indices else torch.max_pool1d
    stride = kernel_size if stride is None else stride
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    pool = torch.max_pool2d_with_indices if return_indices else torch.max_pool2d
    stride = kernel_size if stride is None else stride
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    pool = torch.max_pool3d_with_indices if return_indices else torch.max_pool3d
    stride = kernel_size if stride is None else stride
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True):
    stride = kernel_size if stride is None else stride
    return torch.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True, divisor_override=None):
    stride = kernel_size if stride is None else stride
    return torch.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                            divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True, divisor_override=None):
    stride = kernel_size if stride is None else stride
    return torch.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                            divisor_override)


def _extents(input, size, rank):
    """The size of a pool's result, where None means that of the input."""
    return [input.size(i - rank) if n is None else n for i, n in enumerate(_each(size, rank))]


def adaptive_avg_pool1d(input, output_size):
    return torch.adaptive_avg_pool1d(input, _extents(input, output_size, 1))


def adaptive_avg_pool2d(input, output_size):
    return torch.adaptive_avg_pool2d(input, _extents(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    return torch.adaptive_avg_pool3d(input, _extents(input, output_size, 3))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    both = torch.adaptive_max_pool1d(input, _extents(input, output_size, 1))
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    both = torch.adaptive_max_pool2d(input, _extents(input, output_size, 2))
    return both if return_indices else both[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    both = torch.adaptive_max_pool3d(input, _extents(input, output_size, 3))
    return both if return_indices else both[0]


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return torch.im2col(input, _each(kernel_size, 2), _each(dilation, 2), _each(padding, 2),
                        _each(stride, 2))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return torch.col2im(input, _each(output_size, 2), _each(kernel_size, 2), _each(dilation, 2),
                        _each(padding, 2), _each(stride, 2))


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None, antialias=False):
    assert not antialias, "interpolate: antialias"
    rank = input.dim() - 2
    scale = None
    if size is not None:
        size = _each(size, rank)
    elif recompute_scale_factor or mode == "area":
        size = [int(n * s) for n, s in zip(input.shape[2:], _each(scale_factor, rank))]
    else:
        scale = [float(s) for s in _each(scale_factor, rank)]
    if mode == "area":
        pools = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
        return pools[rank](input, size)
    if mode == "nearest" or mode == "nearest-exact":
        name = "upsample_nearest" if mode == "nearest" else "_upsample_nearest_exact"
        return getattr(torch, name + str(rank) + "d")(input, size, scale)
    name = {"linear": "upsample_linear1d", "bilinear": "upsample_bilinear2d",
            "bicubic": "upsample_bicubic2d", "trilinear": "upsample_trilinear3d"}[mode]
    return getattr(torch, name)(input, size, bool(align_corners), scale)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    modes = {"bilinear": 0, "nearest": 1, "bicubic": 2}
    paddings = {"zeros": 0, "border": 1, "reflection": 2}
    return torch.grid_sampler(input, grid, modes[mode], paddings[padding_mode],
                              bool(align_corners))


# ---- losses ----

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return torch.mse_loss(input, target, _REDUCTIONS[reduction])


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return torch.l1_loss(input, target, _REDUCTIONS[reduction])


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None,
                                     reduction="mean", pos_weight=None):
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight,
                                                  _REDUCTIONS[reduction])


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    return torch.cross_entropy_loss(input, target, weight, _REDUCTIONS[reduction], ignore_index,
                                    label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
             reduction="mean"):
    return torch.nll_loss(input, target, weight, _REDUCTIONS[reduction], ignore_index)
