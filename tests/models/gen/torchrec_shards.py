"""Shards a quantised TorchRec module in one process, for archives of several devices.

SPDX-License-Identifier: Apache-2.0
"""

import copy

import torch
from torchrec import distributed
from torchrec.distributed.fused_params import FUSED_PARAM_QUANT_STATE_DICT_SPLIT_SCALE_BIAS
from torchrec.distributed.global_settings import set_propogate_device
from torchrec.distributed.planner import EmbeddingShardingPlanner, Topology
from torchrec.distributed.planner.enumerators import EmbeddingEnumerator
from torchrec.distributed.planner.shard_estimators import (EmbeddingPerfEstimator,
                                                           EmbeddingStorageEstimator)
from torchrec.distributed.planner.types import ParameterConstraints
from torchrec.distributed.quant_embedding import QuantEmbeddingCollectionSharder
from torchrec.distributed.quant_embeddingbag import QuantEmbeddingBagCollectionSharder
from torchrec.distributed.shard import _shard_modules

CPU = torch.device("cpu")


def shard(module, how, world_size):
    """`how`: the kind of sharding by the table's name."""
    set_propogate_device(True)  # the look-ups are to be where the module is
    fused = {FUSED_PARAM_QUANT_STATE_DICT_SPLIT_SCALE_BIAS: True}
    sharders = [QuantEmbeddingBagCollectionSharder(fused_params=dict(fused)),
                QuantEmbeddingCollectionSharder(fused_params=dict(fused))]
    topology = Topology(world_size=world_size, compute_device="cpu",
                        local_world_size=world_size)
    constraints = {
        name: ParameterConstraints(sharding_types=[kind], compute_kernels=["quant"],
                                   min_partition=8)
        for name, kind in how.items()
    }
    estimators = [EmbeddingPerfEstimator(topology=topology, constraints=constraints,
                                         is_inference=True),
                  EmbeddingStorageEstimator(topology=topology, constraints=constraints)]
    enumerator = EmbeddingEnumerator(topology=topology, batch_size=1,
                                     constraints=constraints, estimator=estimators)
    plan = EmbeddingShardingPlanner(topology=topology, batch_size=1,
                                    constraints=constraints,
                                    enumerator=enumerator).plan(module, sharders)
    sharded = _shard_modules(module=copy.deepcopy(module), device=CPU, plan=plan,
                             env=distributed.ShardingEnv.from_local(world_size, 0),
                             sharders=sharders)
    for part in sharded.modules():
        if hasattr(part, "split_embedding_weights_with_scale_bias"):
            fill(part)
    return sharded


def fill(look_up):
    """Shards come without their rows: any codes, and scales that keep them small."""
    for codes, scales in look_up.split_embedding_weights_with_scale_bias(1):
        if scales is None:
            codes.view(-1).view(torch.half).uniform_(-1, 1)
            continue
        codes.random_(0, 256)
        numbers = scales.view(torch.half)
        numbers[:, 0].uniform_(0.001, 0.01)
        numbers[:, 1].uniform_(-0.5, 0.5)
