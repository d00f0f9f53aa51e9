"""TorchRec's quantised DLRM as a TorchScript archive, at the size that serves ads.

SPDX-License-Identifier: Apache-2.0

26 tables of 100,000 rows of 64 int8 values, bottom MLP 512-256-64, top MLP
512-512-256-1, made the way TorchRec's tutorial makes an inference model: quantise,
trace by its tracer, script, save.  `lookups` is the EmbeddingBagCollection alone.

    python bench/torchrec_models.py            # writes both, prints their paths

Import this module after whatever must run before fbgemm_gpu is loaded.
"""

import dataclasses
import sys
import warnings

import numpy as np
import torch

from models import cache_folder

TABLES, DIM, DENSE = 26, 64, 13
BOTTOM, TOP = [512, 256, 64], [512, 512, 256, 1]
KEYS = [f"cat_{i}" for i in range(TABLES)]


@dataclasses.dataclass(frozen=True)
class Archive:
    kind: str  # dlrm, lookups
    rows: int = 100_000

    @property
    def name(self):
        return f"torchrec-{self.kind}-{self.rows}"


def float_collection(rows):
    from torchrec import EmbeddingBagCollection, EmbeddingBagConfig, PoolingType

    tables = [
        EmbeddingBagConfig(
            name=f"t_{key}",
            embedding_dim=DIM,
            num_embeddings=rows,
            feature_names=[key],
            pooling=PoolingType.SUM,
        )
        for key in KEYS
    ]
    return EmbeddingBagCollection(tables=tables, device=torch.device("cpu"))


def quantised(module):
    from torch import quantization
    from torchrec import EmbeddingBagCollection
    from torchrec.modules.embedding_configs import QuantConfig
    from torchrec.quant.embedding_modules import EmbeddingBagCollection as Quantised

    observer = quantization.PlaceholderObserver
    config = QuantConfig(
        activation=observer.with_args(dtype=torch.float),
        weight=observer.with_args(dtype=torch.int8),
    )
    return quantization.quantize_dynamic(
        module,
        qconfig_spec={EmbeddingBagCollection: config},
        mapping={EmbeddingBagCollection: Quantised},
        inplace=True,
    )


def lookups_module(collection):
    from torchrec import KeyedJaggedTensor

    class Lookups(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.ebc = collection

        def forward(self, sparse_features: KeyedJaggedTensor) -> torch.Tensor:
            return self.ebc(sparse_features).values()

    return Lookups()


def scripted(archive):
    """The module as a server would load it."""
    from torchrec.fx import Tracer
    from torchrec.models.dlrm import DLRM

    torch.manual_seed(101)
    collection = float_collection(archive.rows)
    if archive.kind == "dlrm":
        module = DLRM(collection, DENSE, BOTTOM, TOP)
    else:
        module = lookups_module(collection)
    module = quantised(module.eval())
    tracer = Tracer(leaf_modules=["IntNBitTableBatchedEmbeddingBagsCodegen"])
    return torch.jit.script(torch.fx.GraphModule(module, tracer.trace(module)))


def write_archive(archive):
    """The path of the archive, written unless it is there."""
    folder = cache_folder() / archive.name
    path = folder / "model.pt"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "partial.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(scripted(archive), str(partial))
    partial.rename(path)
    return path


def make_arrays(rng, archive, batch, pooling):
    """[dense,] ids, lengths: `pooling` ids a bag, uniform over the rows."""
    ids = rng.integers(0, archive.rows, TABLES * batch * pooling)
    lengths = np.full(TABLES * batch, pooling, "int64")
    if archive.kind != "dlrm":
        return [ids, lengths]
    dense = np.log1p(rng.gamma(1.0, 3.0, (batch, DENSE))).astype("float32")
    return [dense, ids, lengths]


def torch_arguments(archive, arrays):
    """The same inputs as the scripted module takes them."""
    from torchrec import KeyedJaggedTensor

    ids, lengths = (torch.from_numpy(array) for array in arrays[-2:])
    jagged = KeyedJaggedTensor(keys=KEYS, values=ids, lengths=lengths)
    if archive.kind != "dlrm":
        return [jagged]
    return [torch.from_numpy(arrays[0]), jagged]


if __name__ == "__main__":
    for kind in sys.argv[1:] or ["dlrm", "lookups"]:
        print(write_archive(Archive(kind)))
