"""torch.distributed.checkpoint loads the checkpoints of ingot train, and TorchRec on two ranks.

SPDX-License-Identifier: Apache-2.0

    checkpoint_torch.py WHOLE TABLES

WHOLE is of a DLRM with AdamW, TABLES of the tutorial's tables with row-wise Adagrad.  Where torch,
or TorchRec, is not installed, it says so and that part is skipped.
"""
import os
import sys

whole, tables = sys.argv[1:3]
try:
    import torch
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint import FileSystemReader
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict, set_optimizer_state_dict
except ImportError:
    print("skip: there is no torch")
    sys.exit()


def check_torch():
    """Linear layers of the model and their AdamW take what they are called in the checkpoint."""
    metadata = FileSystemReader(whole).read_metadata().state_dict_metadata
    layer = torch.nn.Module()
    layer.bottom = torch.nn.Sequential(torch.nn.Linear(13, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.002, eps=1e-5)
    for p in layer.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()  # makes the states that are then overwritten
    state = {"model": layer.state_dict(),
             "optim": {"state": get_optimizer_state_dict(layer, optimizer)["state"]}}
    before = state["model"]["bottom.0.weight"].clone()
    dcp.load(state, checkpoint_id=whole)
    named = state["optim"]["state"]["bottom.0.weight"]
    assert not torch.equal(state["model"]["bottom.0.weight"], before)
    assert float(named["step"]) == 10 and named["exp_avg"].abs().sum() > 0, named
    full = get_optimizer_state_dict(layer, optimizer)
    full["state"] = state["optim"]["state"]
    set_optimizer_state_dict(layer, optimizer, full)
    layer.load_state_dict(state["model"])
    optimizer.step()
    whole_names = [n for n in metadata if n.startswith("model.")]
    print(f"torch loads {len(whole_names)} weights")


def run_rank(rank, port):
    import torch.distributed as dist
    from fbgemm_gpu.split_embedding_configs import EmbOptimType
    from torchrec import EmbeddingBagCollection, EmbeddingBagConfig
    from torchrec.distributed import DistributedModelParallel
    from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder
    from torchrec.distributed.sharding_plan import construct_module_sharding_plan, row_wise, table_wise
    from torchrec.distributed.types import ShardingEnv, ShardingPlan
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    model = torch.nn.Module()
    model.ebc_ = EmbeddingBagCollection(device=torch.device("cpu"), tables=[
        EmbeddingBagConfig(name=name, embedding_dim=64, num_embeddings=4096, feature_names=[name])
        for name in ("product_table", "user_table")])
    sharder = EmbeddingBagCollectionSharder(fused_params={
        "optimizer": EmbOptimType.EXACT_ROWWISE_ADAGRAD, "learning_rate": 0.02, "eps": 0.002})
    ways = {"product_table": row_wise(compute_kernel="fused"),
            "user_table": table_wise(rank=1, compute_kernel="fused")}
    plan = construct_module_sharding_plan(model.ebc_, ways, sharder=sharder, local_size=2, world_size=2,
                                          device_type="cpu")
    model = DistributedModelParallel(model, env=ShardingEnv.from_process_group(dist.group.WORLD),
                                     device=torch.device("cpu"), plan=ShardingPlan(plan={"ebc_": plan}),
                                     sharders=[sharder], init_data_parallel=True)
    state = {"model": model.state_dict(), "optim": model.fused_optimizer.state_dict()}
    dcp.load(state, checkpoint_id=tables)
    reader = FileSystemReader(tables)
    names = reader.read_metadata().state_dict_metadata
    ours = {n: torch.empty(m.size, dtype=m.properties.dtype) for n, m in names.items()}
    dcp.load(ours, checkpoint_id=tables, no_dist=True)
    pairs = {f"model.{n}": t for n, t in state["model"].items()}
    for weight, states in state["optim"]["state"].items():
        pairs.update({f"optim.state.{weight}.{n}": t for n, t in states.items()})
    count = 0
    for name, tensor in pairs.items():
        for shard in tensor.local_shards() if hasattr(tensor, "local_shards") else []:
            begin, sizes = shard.metadata.shard_offsets, shard.metadata.shard_sizes
            cut = tuple(slice(a, a + b) for a, b in zip(begin, sizes))
            assert torch.equal(shard.tensor.reshape(ours[name][cut].shape), ours[name][cut]), name
            assert shard.tensor.numel() == 0 or shard.tensor.abs().sum() > 0 or "momentum" in name
            count += 1
    assert count > 0, list(pairs)
    dist.barrier()
    dist.destroy_process_group()


def check_torchrec():
    try:
        import torchrec  # noqa: F401
    except Exception as reason:  # its libraries may be of another torch
        print(f"skip: there is no TorchRec ({type(reason).__name__})")
        return
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(run_rank, (port,), nprocs=2)
    print("TorchRec loads tables and states on two ranks")


if __name__ == "__main__":
    check_torch()
    check_torchrec()
