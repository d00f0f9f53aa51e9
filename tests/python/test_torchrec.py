"""The lines of TorchRec's tutorial that train, with imports changed, and what they give.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import copy
import io
import os
import socket
import unittest

try:
    import torch
    import torch.distributed as dist
    import torchrec

    import ingot.torchrec
except ImportError as error:
    raise unittest.SkipTest(f"no torch with TorchRec here: {error}") from None

TABLES = """
ebc = torchrec.EmbeddingBagCollection(
    device="cpu",
    tables=[
        torchrec.EmbeddingBagConfig(
            name="product_table",
            embedding_dim=64,
            num_embeddings=4096,
            feature_names=["product"],
            pooling=torchrec.PoolingType.SUM,
        ),
        torchrec.EmbeddingBagConfig(
            name="user_table",
            embedding_dim=64,
            num_embeddings=4096,
            feature_names=["user"],
            pooling=torchrec.PoolingType.SUM,
        )
    ]
)
kjt = torchrec.KeyedJaggedTensor(
    keys=["product", "user"],
    values=torch.tensor([1, 2, 1, 5, 2, 3, 4, 1]),
    lengths=torch.tensor([3, 1, 2, 2]),
)
"""
PLAN = """
from ingot.torchrec import EmbeddingBagCollectionSharder
from torchrec.distributed.planner import EmbeddingShardingPlanner, Topology
from torchrec.distributed.types import ShardingEnv
sharder = EmbeddingBagCollectionSharder()
pg = dist.GroupMember.WORLD
planner = EmbeddingShardingPlanner(
    topology=Topology(
        world_size=1,
        compute_device="cuda",
    )
)
plan = planner.collective_plan(ebc, [sharder], pg)
env = ShardingEnv.from_process_group(pg)
sharded_ebc = sharder.shard(ebc, plan.plan[""], env, torch.device("cuda"))
"""
FUSED = """
from torchrec.optim.optimizers import in_backward_optimizer_filter
from fbgemm_gpu.split_embedding_configs import EmbOptimType
fused_params = {
    "optimizer": EmbOptimType.EXACT_ROWWISE_ADAGRAD,
    "learning_rate": 0.02,
    "eps": 0.002,
}
sharder_with_fused_params = EmbeddingBagCollectionSharder(fused_params=fused_params)
sharded_ebc_fused_params = sharder_with_fused_params.shard(ebc, plan.plan[""], env, torch.device("cuda"))
print(f"Original Sharded EBC fused optimizer: {sharded_ebc.fused_optimizer}")
print(f"Sharded EBC with fused parameters fused optimizer: {sharded_ebc_fused_params.fused_optimizer}")
from torch.distributed.optim import _apply_optimizer_in_backward as apply_optimizer_in_backward
import copy
ebc_apply_opt = copy.deepcopy(ebc)
optimizer_kwargs = {"lr": 0.5}
for name, param in ebc_apply_opt.named_parameters():
    print(f"{name=}")
    apply_optimizer_in_backward(torch.optim.SGD, [param], optimizer_kwargs)
sharded_ebc_apply_opt = sharder.shard(ebc_apply_opt, plan.plan[""], env, torch.device("cuda"))
print(sharded_ebc_apply_opt.fused_optimizer)
print("Non Fused Model Parameters:")
print(dict(in_backward_optimizer_filter(sharded_ebc_fused_params.named_parameters())).keys())
ebc_output = sharded_ebc_fused_params(kjt).wait().values()
loss = torch.sum(torch.ones_like(ebc_output) - ebc_output)
first = loss
loss.backward()
ebc_output = sharded_ebc_fused_params(kjt).wait().values()
loss = torch.sum(torch.ones_like(ebc_output) - ebc_output)
"""
SAID = """Original Sharded EBC fused optimizer: : EmbeddingFusedOptimizer (
Parameter Group 0
    lr: 0.01
)
Sharded EBC with fused parameters fused optimizer: : EmbeddingFusedOptimizer (
Parameter Group 0
    lr: 0.02
)
name='embedding_bags.product_table.weight'
name='embedding_bags.user_table.weight'
: EmbeddingFusedOptimizer (
Parameter Group 0
    lr: 0.5
)
Non Fused Model Parameters:
dict_keys([])
"""


class Tutorial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="localhost", MASTER_PORT=str(port))
        dist.init_process_group(backend="gloo")
        cls.addClassCleanup(dist.destroy_process_group)

    def setUp(self):
        torch.manual_seed(0)
        self.names = {"torch": torch, "torchrec": torchrec, "dist": dist}
        exec(TABLES, self.names)

    def test_the_lines_run(self):
        exec(PLAN, self.names)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(FUSED, self.names)
        self.assertEqual(said.getvalue(), SAID)
        drop = self.names["first"].item() - self.names["loss"].item()
        before = self.names["ebc"](self.names["kjt"]).values()
        self.assertAlmostEqual(self.names["first"].item(), (1 - before).sum().item(), delta=2e-3)
        self.assertAlmostEqual(drop, 10.222107, delta=1e-4)

    def test_a_model_learns_as_torch(self):
        exec(TABLES, self.names)
        ebc, kjt = self.names["ebc"], self.names["kjt"]

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.ebc, self.over = ebc, torch.nn.Linear(128, 1)

            def forward(self, kjt):
                rows = self.ebc(kjt)
                rows = rows.wait() if hasattr(rows, "wait") else rows
                return self.over(rows.values()).squeeze(1)

        plain = Model()
        ours = ingot.torchrec.DistributedModelParallel(
            copy.deepcopy(plain), device=torch.device("cpu"),
            sharders=[ingot.torchrec.EmbeddingBagCollectionSharder(
                fused_params={"learning_rate": 0.5})])
        self.assertIn("lr: 0.5", repr(ours.fused_optimizer))
        label = torch.tensor([0.0, 1.0])
        sgd = torch.optim.SGD(plain.parameters(), lr=0.5)
        dense = torch.optim.SGD(ours.module.over.parameters(), lr=0.5)
        for _ in range(10):
            losses = []
            for model, optimizer in ((plain, sgd), (ours, dense)):
                loss = torch.nn.functional.binary_cross_entropy_with_logits(model(kjt), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            self.assertAlmostEqual(losses[0], losses[1], delta=1e-6)
        for group in ours.fused_optimizer.param_groups:
            group["lr"] = 0.0
        before = ours.module.ebc.embedding_bags["user_table"].weight.detach().clone()
        ours(kjt).sum().backward()
        self.assertTrue(torch.equal(before, ours.module.ebc.embedding_bags["user_table"].weight))


if __name__ == "__main__":
    unittest.main()
