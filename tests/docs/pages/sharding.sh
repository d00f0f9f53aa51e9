# A model with two tables, plans, batches.  SPDX-License-Identifier: Apache-2.0
# mpirun -n => mpirun.openmpi --allow-run-as-root --oversubscribe -n
# planner/criteo_w8_cuda_80g.json sharding/row_wise_w4 => golden.json sharded
#  --input 'kjt=kjt(…)' =>
#  --input "$kjt" =>
# --ranks 4 --inputs 'batch%r.npz' --outputs 'scores%r.npz' => --ranks 4 --inputs 'batch.%r.npz' --outputs 'scores%r.npz'
cat >model.pt <<'IG'
module @m {
  weight @net.users.weight : f32[9000, 64] = splat(1)
  weight @net.items.weight : f32[8000, 64] = splat(2)
  weight @net.shops.weight : f32[7000, 64] = splat(3)
  weight @net.towns.weight : f32[6000, 64] = splat(4)
  graph @main(%ids: i64[N], %off: i64[B]) {
    %0, %1, %2, %3 = bag @net.users.weight, %ids, %off, @net.items.weight, %ids, %off, @net.shops.weight, %ids, %off, @net.towns.weight, %ids, %off {operands = [1, 1, 1, 1], pool = [sum, sum, sum, sum], negative = error}
    ret %0, %1, %2, %3
  }
}
IG
cat >tables.json <<'JSON'
{"tables": [{"name": "users", "rows": 1000000, "dim": 64}],
 "topology": {"world_size": 2, "local_world_size": 2, "compute_device": "cuda"},
 "batch_size": 512}
JSON
echo '{"world_size": 4, "local_world_size": 4, "compute_device": "cpu"}' >four.json
echo '{"world_size": 2, "local_world_size": 2, "compute_device": "cpu"}' >two.json
ingot shard model.pt --topology two.json -o new.json >made
echo '{"users": {"sharding_types": ["row_wise", "column_wise"], "pooling_factors": [20.0]}}' >rows.json
cp "$ROOT/tests/golden/shard/seed_w2_cuda.json" golden.json
"$PYTHON" "$ROOT/tests/cli/files/sharded_case.py" sharded
"$PYTHON" - <<'PY'
import struct, zipfile
def save(path, **arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, ids in arrays.items():
            head = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(ids)},), }}"
            archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack(
                f"<H118s{len(ids)}q", 118, (head.ljust(117) + "\n").encode(), *ids))
for rank in range(4):
    save(f"batch.{rank}.npz", ids=[rank, 3, 5], off=[0, 1])
save("ids.npz", users=[1, 2, 3, 3])
PY
