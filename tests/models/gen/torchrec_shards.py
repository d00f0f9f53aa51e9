"""Shards a quantised TorchRec module in one process, for archives of several devices.

SPDX-License-Identifier: Apache-2.0
"""

import copy

import torch
from torchrec import distributed
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
    sharders = [QuantEmbeddingBagCollectionSharder(), QuantEmbeddingCollectionSharder()]
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
    return _shard_modules(module=copy.deepcopy(module), device=CPU, plan=plan,
                          env=distributed.ShardingEnv.from_local(world_size, 0),
                          sharders=sharders)
