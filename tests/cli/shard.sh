# Plans for tables from the command line.  SPDX-License-Identifier: Apache-2.0

cat >"$tmp/tables.json" <<'TEXT'
{"tables": [{"name": "users", "rows": 100000, "dim": 64},
            {"name": "items", "rows": 5000, "dim": 128}],
 "topology": {"world_size": 2, "compute_device": "cuda"}, "batch_size": 512}
TEXT
echo '{"world_size": 4, "compute_device": "cuda", "latency_us": 5}' >"$tmp/four.json"
echo '{"users": {"sharding_types": ["row_wise"]}}' >"$tmp/rows.json"
echo '{"users": {"sharding_types": ["diagonal"]}}' >"$tmp/unknown.json"
echo '{"world_size": 0, "compute_device": "cuda"}' >"$tmp/none.json"
echo '{"world_size": 2, "compute_device": "cuda", "hbm_cap": 1, "ddr_cap": 1}' >"$tmp/tiny.json"
echo '{"tables": [' >"$tmp/broken.json"
echo '[]' >"$tmp/list.json"

check "a plan is printed" 0 "all plans tried" "$ingot" shard "$tmp/tables.json"
check "by TorchRec's tables" 0 "users | table_wise    | fused          | [0]" \
    "$ingot" shard "$tmp/tables.json" --compat torchrec
check "a topology and constraints of files" 0 "row_wise           fused              0, 1, 2, 3" \
    "$ingot" shard "$tmp/tables.json" --topology "$tmp/four.json" --constraints "$tmp/rows.json"
check "a plan into a file, a picture too" 0 "" "$ingot" shard -q "$tmp/tables.json" \
    -o "$tmp/plan.json" --svg "$tmp/plan.svg"
holds "which is JSON" "$python" -m json.tool "$tmp/plan.json"
holds "with a bar for each rank" grep -q '>rank 1<' "$tmp/plan.svg"
holds "well formed" "$python" -c \
    "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" "$tmp/plan.svg"
"$ingot" shard "$tmp/tables.json" --json | sed 's/^{"schema": 1, /{/' >"$tmp/a"
holds "the same plan again" cmp "$tmp/plan.json" "$tmp/a"
"$ingot" shard "$tmp/tables.json" -o - >"$tmp/a"
holds "and on standard output" cmp "$tmp/plan.json" "$tmp/a"

# Nine of ten ids are in the first tenth of the rows.
"$python" - "$tmp" <<'PY'
import sys, zipfile, struct
def npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, ids in arrays.items():
            head = "{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % len(ids)
            head += " " * (-(10 + len(head) + 1) % 64) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head))
                             + head.encode() + struct.pack("<%dq" % len(ids), *ids))
skewed = [i * 111 % 10000 for i in range(900)] + [10000 + i * 900 for i in range(100)] + [-1]
npz(sys.argv[1] + "/sample.npz", {"users": skewed})
npz(sys.argv[1] + "/other.npz", {"nobody": [0]})
npz(sys.argv[1] + "/beyond.npz", {"users": [100000]})
PY
"$ingot" shard "$tmp/tables.json" --topology "$tmp/four.json" --constraints "$tmp/rows.json" \
    --sample "$tmp/sample.npz" --json >"$tmp/skewed.json"
"$ingot" shard "$tmp/tables.json" --topology "$tmp/four.json" --constraints "$tmp/rows.json" \
    --json >"$tmp/even.json"
holds "a sample of ids says which rank of rows is the busiest" "$python" - "$tmp" <<'PY'
import json, sys
def parts(name):
    plan = json.load(open(sys.argv[1] + "/" + name))
    users = next(t for t in plan["tables"] if t["name"] == "users")
    return plan, [s["perf"]["fwd_compute"] for s in users["shards"]]
even, skewed = parts("even.json"), parts("skewed.json")
assert len(set(even[1])) == 1, even[1]
assert skewed[1][0] > 2 * even[1][0] and max(skewed[1][1:]) < even[1][0], skewed[1]
assert skewed[0]["critical_path"] > even[0]["critical_path"]
PY
check "a sample of no table" 3 "other.npz: there is no table 'nobody'" \
    "$ingot" shard "$tmp/tables.json" --sample "$tmp/other.npz"
check "ids beyond a table" 3 "users: id 100000 is beyond the table's 100000 rows" \
    "$ingot" shard "$tmp/tables.json" --sample "$tmp/beyond.npz"
echo '{"users": {"row_shares": [0, 0]}}' >"$tmp/noshares.json"
check "shares of nothing" 3 "\"row_shares\" must be a list" \
    "$ingot" shard "$tmp/tables.json" --constraints "$tmp/noshares.json"

echo '{"userz": {"sharding_types": ["row_wise"]}}' >"$tmp/nobody.json"
check "constraints of no table" 3 "constraints: no table is 'userz'; there are 'users'" \
    "$ingot" shard "$tmp/tables.json" --constraints "$tmp/nobody.json"
echo '{"users": {}, "users": {}}' >"$tmp/twice.json"
check "constraints that stand twice" 3 "twice.json: line" \
    "$ingot" shard "$tmp/tables.json" --constraints "$tmp/twice.json"
echo '{"tables": [{"name": "a", "rows": 9, "dim": 4}, {"name": "a", "rows": 9, "dim": 4}],
"topology": {"world_size": 2, "compute_device": "cuda"}}' >"$tmp/same.json"
check "tables of one name" 3 "two tables are named 'a'" "$ingot" shard "$tmp/same.json"
echo '{"tables": [{"name": "a", "rows": 9, "dim": 4}]}' >"$tmp/bare.json"
check "no topology" 3 "--topology" "$ingot" shard "$tmp/bare.json"

check "no such file" 6 "$tmp/absent.json: cannot be read" "$ingot" shard "$tmp/absent.json"
check "no such topology" 6 "$tmp/absent.json: cannot be read" \
    "$ingot" shard "$tmp/tables.json" --topology "$tmp/absent.json"
check "broken JSON" 3 "$tmp/broken.json: line" "$ingot" shard "$tmp/broken.json"
check "no object" 3 "$tmp/list.json: a JSON object" "$ingot" shard "$tmp/list.json"
check "a bad topology is named" 3 "none.json: topology: \"world_size\" must be" \
    "$ingot" shard "$tmp/tables.json" --topology "$tmp/none.json"
check "an unknown type" 4 "there is no estimate for 'diagonal'" \
    "$ingot" shard "$tmp/tables.json" --constraints "$tmp/unknown.json"
check "nothing fits" 3 "give more ranks, more memory" \
    "$ingot" shard "$tmp/tables.json" --topology "$tmp/tiny.json"
check "JSON says so too" 3 '"exit_status": 3' \
    "$ingot" shard "$tmp/tables.json" --topology "$tmp/tiny.json" --json

check "a plan that was written is rated" 0 "busiest rank" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/plan.json"
sed 's/"name": "users"/"name": "others"/' "$tmp/plan.json" >"$tmp/others.json"
check "a plan of other tables" 3 "others.json: plan: there is no entry for table 'users'" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/others.json"
sed 's/"rank": 0, "size"/"rank": 7, "size"/' "$tmp/plan.json" >"$tmp/far.json"
check "a rank that there is not" 3 "must be a whole number from 0 to 1" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/far.json"
sed 's/"size": \[100000/"size": [99999/' "$tmp/plan.json" >"$tmp/smaller.json"
check "a plan of a smaller table" 3 "has another size or offset" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/smaller.json"
sed 's/"table_wise"/"diagonal"/' "$tmp/plan.json" >"$tmp/diagonal.json"
check "a type that there is not" 3 "cannot be 'diagonal'" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/diagonal.json"
check "a plan that does not fit" 3 "bytes of device memory; move a table" \
    "$ingot" shard "$tmp/tables.json" --plan "$tmp/plan.json" --topology "$tmp/tiny.json"

# ---- tables of a model, and a plan onto it ----

cat >"$tmp/tables.ig" <<'TEXT'
module @m {
  weight @net.users.weight : f32[100, 64] = splat(1)
  weight @net.items.weight : f32[50, 8] = splat(2)
  weight @codes.weight : f16[50, 8] = splat(2)
  graph @main(%ids: i64[N], %off: i64[B]) {
    %0, %1, %2 = bag @net.users.weight, %ids, %off, @net.items.weight, %ids, %off, @net.items.weight, %off, %off {operands = [1, 1, 1], pool = [sum, mean, sum]}
    ret %0, %1, %2
  }
}
TEXT
echo '{"world_size": 2, "compute_device": "cuda"}' >"$tmp/two.json"
echo '{"net.users.weight": {"sharding_types": ["row_wise"]}}' >"$tmp/users.json"
check "tables of a model" 0 "net.users.weight" \
    "$ingot" shard "$tmp/tables.ig" --topology "$tmp/two.json" --constraints "$tmp/users.json" \
    --batch-size 64 -o "$tmp/model.json"
echo '{"users": {"sharding_types": ["row_wise"]}}' >"$tmp/short.json"
check "by a part of their names" 0 "" "$ingot" shard "$tmp/tables.ig" -q --topology \
    "$tmp/two.json" --constraints "$tmp/short.json" --batch-size 64 -o "$tmp/short_model.json"
holds "as by the whole" cmp "$tmp/model.json" "$tmp/short_model.json"
echo '{"net": {"sharding_types": ["row_wise"]}}' >"$tmp/both.json"
check "a part that several have" 3 "constraints: more than one table is 'net'" \
    "$ingot" shard "$tmp/tables.ig" --topology "$tmp/two.json" --constraints "$tmp/both.json"
check "a model has no topology" 3 'there is no topology' \
    "$ingot" shard "$tmp/tables.ig"
sed 's/bag @net.users/bag @codes/' "$tmp/tables.ig" >"$tmp/codes.ig"
# 50 rows of 8 halves on one rank, and 10 rows of 8 codes behind a scale and bias of f16.
"$ingot" shard "$tmp/codes.ig" --topology "$tmp/two.json" --json >"$tmp/codes.json"
holds "rows of halves take half as much" grep -q '"hbm": 21280,' "$tmp/codes.json"
sed 's/weight @codes.weight : f16\[50, 8\] = splat(2)/table @codes.weight : u8<rowwise f16>[2, 8] = inline(0x003c00000000000000000000003c00000000000000000000)/' \
    "$tmp/codes.ig" >"$tmp/bytes.ig"
"$ingot" shard "$tmp/bytes.ig" --topology "$tmp/two.json" --json >"$tmp/codes.json"
holds "and codes a fourth, with their scales" grep -q '"hbm": 20504,' "$tmp/codes.json"
echo '{"tables": [{"name": "a", "rows": 10, "dim": 4, "row_bytes": 8, "row_factors": 8}]}' >"$tmp/rows_of.json"
check "codes of no bytes" 3 '"row_factors" must be a whole number from 0 to 7' \
    "$ingot" shard "$tmp/rows_of.json" --topology "$tmp/two.json"
echo '{"world_size": 2, "compute_device": "cpu"}' >"$tmp/hosts.json"
check "rows of a host's tables are cut where that is asked for" 0 "row_wise" \
    "$ingot" shard "$tmp/tables.ig" --topology "$tmp/hosts.json" --constraints "$tmp/users.json"
check "TorchRec has no such plan" 3 "its constraints leave no way to place it" "$ingot" shard \
    "$tmp/tables.ig" --topology "$tmp/hosts.json" --constraints "$tmp/users.json" --compat torchrec

check "a machine's topology" 0 '"ddr_mem_bw": ' "$ingot" shard --measure
check "of its ranks" 0 "" "$ingot" shard --measure --ranks 2 -o "$tmp/measured.json"
check "which the planner takes" 0 "critical path" \
    "$ingot" shard "$tmp/tables.ig" --topology "$tmp/measured.json"
check "no model is measured" 2 "takes no MODEL" "$ingot" shard --measure "$tmp/tables.ig"
check "ranks are measured, not planned" 2 "go with --measure" "$ingot" shard "$tmp/tables.ig" --ranks 2
check "no model to plan" 2 "name one MODEL or TABLES.json" "$ingot" shard

"$python" - >"$tmp/thousand.json" <<'TEXT'
import json
tables = [{"name": f"t{i}", "rows": 100 << i % 17, "dim": 16 << i % 4} for i in range(1000)]
print(json.dumps({"tables": tables, "topology": {
    "world_size": 128, "local_world_size": 8, "compute_device": "cuda"}}))
TEXT
check "1,000 tables on 128 ranks take seconds at most" 0 "at least" \
    python3 tests/cli/within.py $(is_sanitized && echo 60 || echo 10) 0 "$ingot" shard "$tmp/thousand.json"
echo 'module @m { graph @main(%x: f32[2]) { ret %x } }' >"$tmp/none.ig"
check "a model without tables" 3 "the model looks up no embedding table" \
    "$ingot" shard "$tmp/none.ig" --topology "$tmp/two.json"
check "the program of a rank" 0 "reduce_scatter" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/model.json" --rank 1
check "has its shard" 0 "weight @net.users.weight.0 : f32[50, 64] = splat(1)" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/model.json" --rank 1
check "a rank that there is not" 3 "model.json: plan: there is no rank 2 of 2" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/model.json" --rank 2
check "a plan of another model" 3 "plan.json: plan: no table of the model is 'users'" \
    "$ingot" dump "$tmp/codes.ig" --shard "$tmp/plan.json"
check "a plan that is none" 3 '"ranks" must list the ranks' \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/users.json"
sed 's/"tables":/"deduplicate": true, "tables":/' "$tmp/model.json" >"$tmp/once.json"
check "an id may travel once" 0 "distinct" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/once.json" --rank 1
sed 's/"deduplicate": true/"deduplicate": 1/' "$tmp/once.json" >"$tmp/one.json"
check "or not" 3 'one.json: plan: "deduplicate" must be true or false' \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/one.json" --rank 1
sed 's/"tables":/"chunks": 2, "tables":/' "$tmp/model.json" >"$tmp/chunks.json"
check "the batch may go in chunks" 0 "overlaps" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/chunks.json" --rank 1
sed 's/"chunks": 2/"chunks": 17/' "$tmp/chunks.json" >"$tmp/many.json"
check "of a certain number" 3 'many.json: plan: "chunks" must be a number from 1 to 16' \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/many.json" --rank 1
check "a plan of a larger table" 3 "table 'net.users.weight': shard 0 has 100000 rows from 0 on" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/plan.json"
check "nobody's model has no ranks yet" 2 "leave out --isolate or --shard" \
    "$ingot" dump "$tmp/tables.ig" --shard "$tmp/model.json" --isolate

# ---- what TorchRec did, as cases of verify ----

here=tests/cli/files
# ---- a checkpoint of sharded modules: rows on one rank each, columns, whole tensors ----

mkdir "$tmp/checkpoint" "$tmp/cut" "$tmp/far"
for part in metadata __0_0.distcp __1_0.distcp; do
    cp "tests/golden/checkpoint/$part" "$tmp/checkpoint/${part/#metadata/.metadata}"
done
cat >"$tmp/trained.ig" <<'TEXT'
module @m {
  weight @ebc.embedding_bags.t1.weight : f32[10, 4] = splat(0)
  weight @ebc.embedding_bags.t2.weight : f32[7, 6] = splat(0)
  weight @own : f32[4] = splat(3)
  graph @main(%ids: i64[N], %off: i64[B]) {
    %0, %1 = bag @ebc.embedding_bags.t1.weight, %ids, %off, @ebc.embedding_bags.t2.weight, %ids, %off {operands = [1, 1], pool = [sum, sum]}
    %2 = add %0, @own
    ret %2, %1
  }
}
TEXT
trained=("$ingot" run "$tmp/trained.ig" --input 'ids=i64[2]=6,1' --input 'off=i64[1]=0' --checkpoint)
check "weights of a checkpoint" 0 "31 33 35 37" "${trained[@]}" "$tmp/checkpoint"
check "columns of two ranks" 0 "43 45 47 49 51 53" "${trained[@]}" "$tmp/checkpoint"
check "no checkpoint" 6 "cut/.metadata: the checkpoint cannot be read" "${trained[@]}" "$tmp/cut"
cp "$tmp/checkpoint/.metadata" "$tmp/cut"
check "a file of it is missing" 3 "__0_0.distcp' cannot be read" "${trained[@]}" "$tmp/cut"
cp "$tmp/checkpoint/__0_0.distcp" "$tmp/cut" && head -c 2000 "$tmp/checkpoint/__1_0.distcp" >"$tmp/cut/__1_0.distcp"
check "a file of it was cut" 3 "has a chunk beyond the end of its file" "${trained[@]}" "$tmp/cut"
sed 's/__0_0.distcp/..\/00.distcp/' "$tmp/checkpoint/.metadata" >"$tmp/far/.metadata"
check "a file elsewhere is not read" 3 "cannot be read" "${trained[@]}" "$tmp/far"
head -c 700 "$tmp/checkpoint/.metadata" >"$tmp/cut/.metadata"
check "metadata that was cut" 3 ".metadata" "${trained[@]}" "$tmp/cut"
sed 's/f32\[10, 4\]/f32[10, 8]/; s/%0, @own/%1, %1/' "$tmp/trained.ig" >"$tmp/wider.ig"
check "another type" 3 "has another type than weight 'ebc.embedding_bags.t1.weight'" \
    "$ingot" dump "$tmp/wider.ig" --checkpoint "$tmp/checkpoint"
sed 's/ebc\.embedding_bags\.t/other/g; s/@own/@mine/' "$tmp/trained.ig" >"$tmp/stranger.ig"
check "none of its names" 3 "has the name of a weight of the model" \
    "$ingot" dump "$tmp/stranger.ig" --checkpoint "$tmp/checkpoint"
check "not in isolation" 4 "not read in isolation" \
    "$ingot" compile "$tmp/trained.ig" --checkpoint "$tmp/checkpoint" --isolate -o "$tmp/no.ingot"
"$ingot" shard "$tmp/trained.ig" --topology "$tmp/two.json" -o "$tmp/trained.json" -q
check "a checkpoint for ranks" 0 "rank1.ingot: written" "$ingot" reshard "$tmp/checkpoint" \
    --model "$tmp/trained.ig" --plan "$tmp/trained.json" -o "$tmp/rank%r.ingot"
check "which is there already" 0 "rank0.ingot: is there already" "$ingot" reshard "$tmp/checkpoint" \
    --model "$tmp/trained.ig" --plan "$tmp/trained.json" -o "$tmp/rank%r.ingot"
check "and runs" 0 "31 33 35 37" "$ingot" run "$tmp/rank%r.ingot" --ranks 2 \
    --input 'ids=i64[2]=6,1' --input 'off=i64[1]=0'

golden=tests/golden/shard
check "plans and estimates of TorchRec's planner" 0 "8 passed, 0 failed" \
    "$igcheck" cases --suite "$golden"
check "one of them" 0 "pass seed_w2_cuda (2 tables, 34 options)" \
    "$igcheck" cases "$golden/seed_w2_cuda.json"
check "as JSON" 0 '"did": "2 tables, ' "$igcheck" cases "$golden/seed_w2_cuda.json" --json
sed 's/"num_plans": /"num_plans": 1/' "$golden/seed_w2_cuda.json" >"$tmp/plans.json"
check "another number of plans" 1 "FAIL plans: plan: plans is" "$igcheck" cases "$tmp/plans.json"
sed 's/"fwd_comms": 0.0\(.*\)/"fwd_comms": 0.00\1/' "$golden/seed_w2_cuda.json" >"$tmp/comms.json"
check "another time" 1 "fwd_comms is" "$igcheck" cases "$tmp/comms.json"
sed 's/"sharding_type": "table_wise"/"sharding_type": "row_wise"/' \
    "$golden/seed_w2_cuda.json" >"$tmp/types.json"
check "another type" 1 "FAIL types" "$igcheck" cases "$tmp/types.json"
check "which users have no use for" 1 "not a folder" \
    "$ingot" verify "$golden/seed_w2_cuda.json"
check "text that is no golden" 1 "not a folder" "$igcheck" cases "$tmp/four.json"
"$python" $here/sharded_case.py "$tmp/sharded"
"$python" $here/sharded_case.py "$tmp/unlike" wrong
check "ranks of a sharded collection, compiled" 0 "pass sharded (3 ranks, 3 compiled)" \
    "$igcheck" cases "$tmp/sharded"
check "interpreted" 0 "pass sharded (3 ranks, 0 compiled)" \
    "$igcheck" cases "$tmp/sharded" --target interpret
check "what is not given" 1 "rank 2, 'both@users.of it', sample 1: at [0, 3]" \
    "$igcheck" cases "$tmp/unlike"
check "interpreted too" 1 "rank 2, 'both@users.of it', sample 1: at [0, 3]" \
    "$igcheck" cases "$tmp/unlike" --target interpret
rm "$tmp/unlike/rank1_input_values.npy"
check "a file that is missing" 1 "rank1_input_values.npy" "$igcheck" cases "$tmp/unlike"
sed -i 's|rank:2/cpu|rank:3/cpu|' "$tmp/sharded/case.json"
check "a rank that the case has not" 1 "shard 2 is for rank 3; ranks are 0 to 2" "$igcheck" cases "$tmp/sharded"
