"""torch.nn.functional: operators under their own names, and what is arranged otherwise.

SPDX-License-Identifier: Apache-2.0
"""
from .. import _ops

# Functions that are the operator of the same name.
_SAME = set("""
    relu6 silu elu celu selu leaky_relu hardtanh hardswish hardsigmoid softplus mish glu gelu
    tanh sigmoid prelu threshold linear bilinear conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d
    adaptive_avg_pool2d adaptive_avg_pool3d layer_norm group_norm rms_norm pixel_shuffle
    pixel_unshuffle channel_shuffle one_hot pad cosine_similarity scaled_dot_product_attention
    hardshrink softshrink
""".split())
_INPLACE = {"relu6", "silu", "elu", "celu", "selu", "leaky_relu", "hardtanh", "hardswish",
            "hardsigmoid", "mish", "threshold"}


def __getattr__(name):
    if name not in _SAME:
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}' here")

    def function(input, *args, inplace=False, **kwargs):  # noqa: A002
        if inplace and name not in _INPLACE:
            raise TypeError(f"{name} has no inplace")
        made = _ops.call(name, input, *args, **kwargs)
        return input._take(made) if inplace else made
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    globals()[name] = function
    return function


def relu(input, inplace=False):  # noqa: A002
    made = _ops.call("relu", input)
    return input._take(made) if inplace else made


_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean"):  # noqa: A002
    return _ops.call("mse_loss", input, target, _REDUCTIONS[reduction])


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean"):  # noqa: A002
    return _ops.call("l1_loss", input, target, _REDUCTIONS[reduction])


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100,  # noqa: A002
                  reduce=None, reduction="mean", label_smoothing=0.0):
    return _ops.call("cross_entropy_loss", input, target, weight, _REDUCTIONS[reduction],
                     ignore_index, label_smoothing)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):  # noqa: A002
    return _ops.call("im2col", input, *(_each(2, v) for v in (
        kernel_size, dilation, padding, stride)))


def interpolate(input, size=None, scale_factor=None, mode="nearest",  # noqa: A002
                align_corners=None, recompute_scale_factor=None, antialias=False):
    if antialias:
        raise NotImplementedError("interpolate: antialias is not supported")
    rank = input.dim() - 2
    size, scale = ([*v] if isinstance(v, (list, tuple)) else None if v is None else [v] * rank
                   for v in (size, scale_factor))
    if scale and recompute_scale_factor:
        size, scale = [int(n * s) for n, s in zip(input.shape[2:], scale)], None
    scale = [float(s) for s in scale] if scale else None
    if mode == "area":
        size = size or [int(n * s) for n, s in zip(input.shape[2:], scale)]
        return _ops.call(f"adaptive_avg_pool{rank}d", input, size)
    if mode == "nearest-exact":
        return _ops.call(f"_upsample_nearest_exact{rank}d", input, size, scale)
    if mode == "nearest":
        return _ops.call(f"upsample_nearest{rank}d", input, size, scale)
    return _ops.call(f"upsample_{mode}{rank}d", input, size, bool(align_corners), scale)


def logsigmoid(input):  # noqa: A002
    return _ops.call("log_sigmoid", input)


def _over(name, input, dim, dtype):  # noqa: A002
    if dim is None:
        dim = 0 if input.dim() in (0, 1, 3) else 1
    return _ops.call(name, input, dim, dtype)


def softmax(input, dim=None, _stacklevel=3, dtype=None):  # noqa: A002
    return _over("softmax", input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):  # noqa: A002
    return _over("log_softmax", input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):  # noqa: A002
    return _over("softmax", -input, dim, dtype)


def dropout(input, p=0.5, training=True, inplace=False):  # noqa: A002
    if training and p > 0:
        raise NotImplementedError("dropout in training draws random numbers: call .eval() first")
    return input


dropout1d = dropout2d = dropout3d = alpha_dropout = feature_alpha_dropout = dropout


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,  # noqa: A002
              scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        raise NotImplementedError("embedding: max_norm changes the weights")
    return _ops.call("embedding", weight, input)


def batch_norm(input, running_mean, running_var, weight=None, bias=None,  # noqa: A002
               training=False, momentum=0.1, eps=1e-5):
    if training and running_mean is not None:
        raise NotImplementedError("batch_norm in training changes its state: call .eval() first")
    return _ops.call("batch_norm", input, weight, bias, running_mean, running_var, training,
                     momentum, eps, False)


def _max_pool(rank):
    def pool(input, kernel_size, stride=None, padding=0, dilation=1,  # noqa: A002
             ceil_mode=False, return_indices=False):
        name = f"max_pool{rank}d" + ("_with_indices" if return_indices else "")
        return _ops.call(name, input, *(_each(rank, v) for v in (
            kernel_size, kernel_size if stride is None else stride, padding, dilation)),
            ceil_mode)
    return pool


def _each(rank, value):
    return list(value) if isinstance(value, (list, tuple)) else [value] * rank


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):  # noqa: A002
    norm = _ops.call("norm", input, p, [dim], True)
    return _ops.call("div", input, _ops.call("clamp_min", norm, eps))
