"""Stand-ins for TorchRec's sharded modules, whose tables are trained by Ingot.

    from ingot.torchrec import DistributedModelParallel, EmbeddingBagCollectionSharder
    sharder = EmbeddingBagCollectionSharder(fused_params={
        "optimizer": EmbOptimType.EXACT_ROWWISE_ADAGRAD, "learning_rate": 0.02, "eps": 0.002})
    sharded = sharder.shard(ebc, plan.plan[""], env, torch.device("cpu"))
    loss = model(sharded(kjt).wait().values())
    loss.backward()    # and the tables have changed

One process, tables of float32 in the host's memory, whatever the plan and the device say.
Ranks train by `ingot train --ranks` (docs/training.md).

SPDX-License-Identifier: Apache-2.0
"""
import numpy
import torch
from torchrec import EmbeddingBagCollection, KeyedTensor, PoolingType
from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder as _Sharder

import ingot_runtime

from . import train

__all__ = ["CombinedOptimizer", "DistributedModelParallel", "EmbeddingBagCollectionSharder",
           "ShardedEmbeddingBagCollection"]

# FBGEMM's names of optimizers, as their values, and torch's classes.
_RULES = {"sgd": "sgd", "exact_sgd": "sgd", "adagrad": "adagrad", "exact_adagrad": "adagrad",
          "exact_row_wise_adagrad": "rowwise_adagrad", "row_wise_adagrad": "rowwise_adagrad",
          "adam": "adam", "partial_row_wise_adam": "partial_rowwise_adam", "lamb": "lamb",
          "partial_row_wise_lamb": "partial_rowwise_lamb", "lars_sgd": "lars",
          "SGD": "sgd", "Adagrad": "adagrad", "Adam": "adam", "RowWiseAdagrad": "rowwise_adagrad",
          "LarsSGD": "lars", "LAMB": "lamb", "PartialRowWiseAdam": "partial_rowwise_adam",
          "PartialRowWiseLAMB": "partial_rowwise_lamb"}
_KEYS = {"learning_rate": "lr", "lr": "lr", "eps": "eps", "beta1": "beta1", "beta2": "beta2",
         "momentum": "momentum", "eta": "eta", "weight_decay": "weight_decay",
         "nesterov": "nesterov"}


def _rule_of(name, settings):
    name = getattr(name, "value", None) or getattr(name, "__name__", name)
    if name not in _RULES:
        raise ingot_runtime.UnsupportedError(f"no rule for the optimizer {name}")
    settings = dict(settings)
    if "betas" in settings:
        settings["beta1"], settings["beta2"] = settings.pop("betas")
    keys = {_KEYS[key]: value for key, value in settings.items() if key in _KEYS}
    keys.setdefault("lr", 0.01)
    return keys["lr"], getattr(train, _RULES[name])(**keys)


def _optimizer_of(parameter, fused_params):
    """What apply_optimizer_in_backward has said of the parameter, else `fused_params`."""
    classes = getattr(parameter, "_optimizer_classes", None)
    if classes:
        return _rule_of(classes[0], parameter._optimizer_kwargs[0])
    settings = dict(fused_params or {})
    return _rule_of(settings.pop("optimizer", "sgd"), settings)


# ---- the model ----


def _text_of(configs, is_weighted):
    """Look-ups of all features, the gradient that they are given, and their product."""
    features = [(c, name) for c in configs for name in c.feature_names]
    width = sum(c.embedding_dim for c, _ in features)
    more = ", %weights: f32[V]" if is_weighted else ""
    lines = ["module @ebc {"]
    lines += [f"  weight @{c.name} : f32[{c.num_embeddings}, {c.embedding_dim}] = splat(0) {{parameter}}"
              for c in configs]
    lines.append(f"  graph @main(%values: i64[V], %lengths: i64[{len(features)}*B]{more}, "
                 f"%gradient: f32[B, {width}]) -> (f32[B, {width}] \"pooled\", "
                 f"f32[B, {width}] \"scaled\") {{")
    lines.append("    %all = cumsum %lengths {axis = 0, complete}")
    for i in range(len(features)):
        start = "0" if i == 0 else "B" if i == 1 else f"{i}*B"
        lines.append(f"    %o{i} = slice %all {{starts = [{start}], sizes = [B+1]}}")
    operands = ", ".join(f"@{c.name}, %values, %o{i}{', %weights' if is_weighted else ''}"
                         for i, (c, _) in enumerate(features))
    pools = ", ".join("mean" if c.pooling == PoolingType.MEAN else "sum" for c, _ in features)
    masks = ", ".join("5" if is_weighted else "1" for _ in features)
    last = ", ".join("offset" for _ in features)
    results = ", ".join(f"%r{i}" for i in range(len(features)))
    lines += [f"    {results} = bag {operands} {{operands = [{masks}], pool = [{pools}], "
              f"last = [{last}], negative = error}}",
              f"    %pooled = concat {results} {{axis = 1}} : f32[B, {width}]",
              f"    %scaled = mul %pooled, %gradient : f32[B, {width}]",
              "    ret %pooled, %scaled", "  }", "}"]
    return "\n".join(lines).encode()


class _Lookup(torch.autograd.Function):
    """The look-ups; their gradient changes the tables."""

    @staticmethod
    def forward(ctx, owner, arrays, _):
        ctx.owner, ctx.arrays = owner, arrays
        return torch.from_numpy(owner._look_up(arrays))

    @staticmethod
    def backward(ctx, gradient):
        ctx.owner._change(ctx.arrays, gradient)
        return None, None, None


class _Awaitable:
    """A result that is there already."""

    def __init__(self, value):
        self._value = value

    def wait(self):
        return self._value

    def __getattr__(self, name):
        return getattr(self._value, name)


class CombinedOptimizer:
    """The optimizer that is fused into the look-ups' backward: `step` has nothing to do."""

    def __init__(self, params, rates):
        self.params = params
        self.param_groups = [{"params": [p], "lr": lr} for p, lr in zip(params.values(), rates)]

    def step(self, closure=None):
        return closure() if closure else None

    def zero_grad(self, set_to_none=True):
        for parameter in self.params.values():
            parameter.grad = None

    def __repr__(self):
        rates = list(dict.fromkeys(group["lr"] for group in self.param_groups))
        groups = "\n".join(f"Parameter Group {i}\n    lr: {lr}" for i, lr in enumerate(rates))
        return f": EmbeddingFusedOptimizer (\n{groups}\n)"


class ShardedEmbeddingBagCollection(torch.nn.Module):
    """A copy of an EmbeddingBagCollection, which learns in `backward`."""

    def __init__(self, module, fused_params=None):
        super().__init__()
        configs = module.embedding_bag_configs()
        if any(c.pooling not in (PoolingType.SUM, PoolingType.MEAN) for c in configs):
            raise ingot_runtime.UnsupportedError("tables are pooled by SUM or MEAN")
        self._is_weighted = module.is_weighted()
        self._features = [name for c in configs for name in c.feature_names]
        self._widths = [c.embedding_dim for c in configs for _ in c.feature_names]
        old = {c.name: module.embedding_bags[c.name].weight for c in configs}
        made = {name: _optimizer_of(weight, fused_params) for name, weight in old.items()}
        self._trainer = train.Trainer(_text_of(configs, self._is_weighted), "sum:scaled",
                                      {name: rule for name, (_, rule) in made.items()})
        self.embedding_bags = torch.nn.ModuleDict()
        for name, weight in old.items():
            self._add_table(name, weight.detach())
        self.fused_optimizer = CombinedOptimizer(dict(self.named_parameters()),
                                                 [lr for lr, _ in made.values()])
        for parameter in self.parameters():
            parameter._in_backward_optimizers = [self.fused_optimizer]
        self._anchor = torch.zeros(0, requires_grad=True)  # so that autograd comes by

    def _add_table(self, name, first):
        """Its weight is the trainer's memory."""
        table = torch.nn.Module()
        memory = self._trainer.weights[name]
        memory[...] = first.cpu().numpy()
        table.weight = torch.nn.Parameter(torch.from_numpy(memory))
        self.embedding_bags[name] = table

    def _arrays_of(self, features):
        wanted = features.permute([features.keys().index(name) for name in self._features])
        arrays = [wanted.values().to(torch.int64), wanted.lengths().to(torch.int64)]
        if self._is_weighted:
            arrays.append(wanted.weights().to(torch.float32))
        return [a.detach().cpu().contiguous().numpy() for a in arrays]

    def _look_up(self, arrays):
        batch = len(arrays[1]) // len(self._features)
        ones = numpy.ones((batch, sum(self._widths)), "f4")
        return numpy.array(self._trainer.predict(*arrays, ones)[0])

    def _change(self, arrays, gradient):
        for rate, group in enumerate(self.fused_optimizer.param_groups):
            self._trainer.rates[rate] = group["lr"]
        self._trainer.step(*arrays, gradient.detach().contiguous().numpy())

    def forward(self, features):
        values = _Lookup.apply(self, self._arrays_of(features), self._anchor)
        return _Awaitable(KeyedTensor(keys=self._features, length_per_key=self._widths,
                                      values=values))


class EmbeddingBagCollectionSharder(_Sharder):
    """TorchRec's, for its planner; `shard` makes the module above."""

    def shard(self, module, params=None, env=None, device=None, module_fqn=None):
        if env is not None and env.world_size > 1:
            raise ingot_runtime.UnsupportedError(
                f"a world of {env.world_size} ranks: they train by 'ingot train --ranks'")
        return ShardedEmbeddingBagCollection(module, self.fused_params)


class DistributedModelParallel(torch.nn.Module):
    """A module whose EmbeddingBagCollections learn in `backward`; all else is as it was."""

    def __init__(self, module, env=None, device=None, plan=None, sharders=None, **_):
        super().__init__()
        sharder = next(iter(sharders or []), EmbeddingBagCollectionSharder())
        self.module = self._replace(module, sharder, env)

    def _replace(self, module, sharder, env):
        if isinstance(module, EmbeddingBagCollection):
            return sharder.shard(module, None, env)
        for name, child in module.named_children():
            setattr(module, name, self._replace(child, sharder, env))
        return module

    @property
    def fused_optimizer(self):
        """Of all tables: its groups are those of the modules' optimizers."""
        whole = CombinedOptimizer({}, [])
        for name, module in self.module.named_modules():
            if isinstance(module, ShardedEmbeddingBagCollection):
                prefix = f"{name}." if name else ""
                whole.params.update({prefix + key: p for key, p
                                     in module.fused_optimizer.params.items()})
                whole.param_groups += module.fused_optimizer.param_groups
        return whole

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)
